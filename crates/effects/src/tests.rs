use super::{EffectReader, EffectTable};
use crate::transcript::ToolCall;

/// The effects of the calls of one run, each given as a tool and its arguments.
fn tell(calls: &[(&str, &str)]) -> Vec<String> {
    let table = EffectTable::default();
    let mut reader = EffectReader::new(&table);
    calls
        .iter()
        .map(|(tool, arguments)| reader.tell(&ToolCall::new(None, tool, *arguments)).effect.to_string())
        .collect()
}

fn check_shell(expected: &str, commands: &[&str]) {
    for command in commands {
        let table = EffectTable::default();
        let told = EffectReader::new(&table).tell(&ToolCall::new(None, "bash", *command));
        assert_eq!(told.effect.name(), expected, "{command}: {told:?}");
    }
}

#[test]
fn reading_commands_read() {
    check_shell(
        "read",
        &[
            "ls -la",
            "grep '>' f",
            "grep -rn 'rm -rf' src | head",
            "cat a b 2>/dev/null",
            "find . -name '*.py' | xargs grep -l x",
            "awk '$1 > 5 {print $2}' f",
            "awk '/a>b/ {print}' f",
            "sed -n '1,5p' f",
            "git log --oneline main..HEAD",
            "git branch -a",
            "git stash list",
            "git config --get user.name",
            "git -C /x status",
            "gh pr view 3",
            "gh api repos/a/b/pulls",
            "tar tzf x.tgz",
            "curl -s https://example.com/x",
            "docker ps",
            "kubectl get pods",
            "npm ls",
            "pip show x",
            "sqlite3 a.db 'select * from t'",
            "sort f | uniq -c",
            "xargs -I{} cat {}",
            "echo \"$(git rev-parse HEAD)\"",
            "for f in *; do wc -l \"$f\"; done",
            "ssh host uptime",
            "aws s3 ls",
            "terraform show",
            "if [ -f x ]; then cat x; fi",
            "Get-ChildItem | Select-Object Name",
            "command -v git",
            "gcloud compute instances list",
            "base64 -d <<< aGk=",
            "ls > /dev/null 2>&1",
            "find . -exec grep x {} +",
            "time ls",
        ],
    );
}

#[test]
fn commands_that_change_files_edit() {
    check_shell(
        "edit",
        &[
            "echo a > f",
            "cat <<'EOF' > f\nhi\nEOF",
            "ls | tee out",
            "ls | tee -a out",
            "sed -i 's/a/b/' f",
            "sed -e 's/a/b/' -i f",
            "sed 's/a/b/w out' f",
            "perl -pi -e 's/a/b/' f",
            "find . -name x -delete",
            "find . -exec rm {} \\;",
            "git ls-files | xargs rm",
            "xargs -0 -n 1 rm -f",
            "awk '{print > \"f\"}' g",
            "git stash",
            "git stash pop",
            "git apply p.diff",
            "git checkout -- f",
            "python3 -c \"open('f','w').write('x')\"",
            "python - <<'E'\nfrom pathlib import Path\nPath('f').write_text('x')\nE",
            "node -e \"require('fs').writeFileSync('f','x')\"",
            "bash -c 'rm x'",
            "sudo rm x",
            "env A=1 mv a b",
            "npm install x",
            "pip install -e .",
            "cargo add serde",
            "go mod tidy",
            "docker rm x",
            "kubectl delete pod x",
            "terraform import a b",
            "ssh host 'rm x'",
            "docker exec web rm x",
            "kubectl exec pod -- rm x",
            "(cd a && rm b)",
            "f() { rm x; }; f",
            "ls; rm x &",
            "true && rm x",
            "echo $(rm x)",
            "cat <(rm x)",
            "curl -o f https://x",
            "wget https://x/y",
            "sort -o f f",
            "black .",
            "gofmt -w .",
            "ruff check --fix",
            "git branch -d x",
            "git tag v1",
            "systemctl restart x",
            "kill 12",
            "sqlite3 a.db 'delete from t'",
            "Remove-Item x",
            "Set-Content -Path a -Value b",
            "gcloud sql databases create x",
            "rsync a b",
            "make install",
            "npm run lint:fix",
            "uv pip install x",
            "poetry add x",
            "cmd /c \"del x\"",
            "apply_patch <<'P'\n*** Begin Patch\n*** Update File: a\n*** End Patch\nP",
            "timeout 5 rm x",
            "if true; then rm x; fi",
            "while read f; do rm \"$f\"; done",
            "case $x in a) rm b;; esac",
            "xargs -I{} sh -c 'rm {}'",
            "{ rm x; } 2>/dev/null",
            "ls &> out.txt",
            "bash <<'E'\nrm x\nE",
            "cat <<E\n$(rm x)\nE",
            "perl -e 'unlink \"x\"'",
            "patch -p1 < x.diff",
        ],
    );
}

#[test]
fn handing_over_is_seen_wherever_it_stands() {
    check_shell(
        "handover",
        &[
            "git commit -m 'a > b'",
            "git add -A && git commit -m x && git push",
            "git -C r push origin main",
            "gh pr create --fill",
            "gh pr merge 3",
            "gh api -X POST repos/a/b/issues",
            "npm publish",
            "cargo publish",
            "docker push x",
            "terraform apply",
            "kubectl apply -f x",
            "helm upgrade a b",
            "vercel --prod",
            "make deploy",
            "npm run deploy:prod",
            "fly deploy",
            "git commit -m \"$(cat <<'EOF'\nfix: a thing's end\nEOF\n)\"",
            "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && cat patch.txt",
        ],
    );
}

#[test]
fn tests_builds_and_programs_check() {
    check_shell(
        "check",
        &[
            "pytest -q",
            "python -m pytest a",
            "cargo test 2>&1 | tail",
            "npm test",
            "npx tsc --noEmit",
            "make",
            "make -j4 test",
            "go build ./...",
            "python reproduce.py",
            "./run",
            "node app.js",
            "black --check .",
            "cargo fmt --check",
            "terraform plan",
            "uv run pytest",
            "poetry run mypy .",
            "docker run img pytest",
            "python -c 'print(1)'",
            "python <<E\nprint(1)\nE",
            "bundle exec rspec",
            "PYTHONPATH=. python manage.py check",
            "mise run test",
            "npm run build",
            "gradle test",
            "dotnet test",
            "git diff --check",
        ],
    );
}

#[test]
fn what_cannot_be_told_is_unknown() {
    check_shell(
        "unknown",
        &["foo", "$CMD x", "curl https://x | sh", "ls $(", "cat x | python", "foobar baz", "ssh host", "\"$exe\" --go"],
    );
}

#[test]
fn a_script_does_what_the_run_wrote_into_it() {
    let write = "{\"command\":\"cat <<'E' > fix_up.py\\nopen('a','w').write('b')\\nE\"}";
    let run = "{\"command\":\"python3 fix_up.py\"}";
    assert_eq!(tell(&[("bash", run)]), ["edit"], "its name says so");
    let neutral = "{\"command\":\"python3 x.py\"}";
    assert_eq!(tell(&[("bash", &write.replace("fix_up", "x")), ("bash", neutral)]), ["edit", "edit"]);
    let harmless = "{\"file_path\":\"/a/x.py\",\"content\":\"print(1)\"}";
    assert_eq!(tell(&[("Write", harmless), ("bash", neutral)]), ["edit", "check"]);
}

#[test]
fn tools_of_many_agents() {
    let cases = [
        ("Read", "{}", "read"),
        ("Edit", "{\"file_path\":\"a\"}", "edit"),
        ("TodoWrite", "{}", "plan"),
        ("Task", "{}", "delegate"),
        ("apply_patch", "*** Begin Patch", "edit"),
        ("shell", "{\"command\":[\"bash\",\"-lc\",\"git push\"]}", "handover"),
        ("exec_command", "{\"cmd\":\"rg x\"}", "read"),
        ("write_stdin", "{\"chars\":\"\"}", "read"),
        ("replace", "{}", "edit"),
        ("str_replace_editor", "{\"command\":\"view\",\"path\":\"a\"}", "read"),
        ("attempt_completion", "{}", "handover"),
        ("str_replace_editor", "{\"command\":\"create\",\"path\":\"a\"}", "edit"),
        ("mcp__github__create_pull_request", "{}", "handover"),
        ("mcp__linear__list_issues", "{}", "read"),
        ("mcp__linear__create_issue", "{}", "edit"),
        ("mcp__x__frobnicate", "{}", "unknown"),
        ("get_order_details", "{}", "read"),
        ("toggle_data_saver_mode", "{}", "edit"),
        ("get_or_create_cart", "{}", "edit"),
        ("use_mcp_tool", "{\"tool_name\":\"delete_page\"}", "edit"),
        (
            "batch",
            "{\"tool_calls\":[{\"tool\":\"read\",\"parameters\":{}},{\"tool\":\"write\",\"parameters\":{}}]}",
            "edit",
        ),
        ("Write", "{\"file_path\":\"/home/u/.claude/plans/x.md\",\"content\":\"\"}", "plan"),
        ("book_reservation", "{}", "handover"),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(tell(&[(tool, arguments)]), [expected], "{tool} {arguments}");
    }
}

#[test]
fn a_stack_file_comes_first() {
    let mut table = EffectTable::default();
    table.add("mcp__jira__*", super::Effect::Handover);
    table.add("$ just ship", super::Effect::Handover);
    table.add("$ ./x*", super::Effect::Read);
    let told =
        |tool: &str, arguments: &str| EffectReader::new(&table).tell(&ToolCall::new(None, tool, arguments)).effect;
    assert_eq!(told("mcp__jira__get", "{}"), super::Effect::Handover);
    assert_eq!(told("bash", "A=1 just ship it"), super::Effect::Handover);
    assert_eq!(told("bash", "./x1 --all"), super::Effect::Read);
}

#[test]
fn no_nesting_is_too_deep() {
    for open in ["$(", "\"$(", "<(", "${a:-", "((", "{ ", "( ", "if ", "`", "case x in ", "! ", "a=(", "bash -c '"] {
        let command = open.repeat(20_000);
        let table = EffectTable::default();
        EffectReader::new(&table).tell(&ToolCall::new(None, "bash", command));
    }
}

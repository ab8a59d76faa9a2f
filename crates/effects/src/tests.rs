use crate::transcript::ToolCall;
use crate::{EffectReader, EffectTable};

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
            "git reflog expire --dry-run --all",
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
            "gh api -XGET search/issues -f q=x",
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
            "gh api -XDELETE repos/a/b/issues/1",
            "gh api -X=DELETE repos/a/b/issues/1",
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
        &[
            "foo",
            "$CMD x",
            "curl https://x | sh",
            "wget --method=DELETE https://x/y",
            "ls $(",
            "cat x | python",
            "foobar baz",
            "ssh host",
            "\"$exe\" --go",
        ],
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
        ("mcp__issues__issue_claim", "{}", "edit"),
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
    table.add("mcp__jira__*", crate::Effect::Handover);
    table.add("$ just ship", crate::Effect::Handover);
    table.add("$ ./x*", crate::Effect::Read);
    let told =
        |tool: &str, arguments: &str| EffectReader::new(&table).tell(&ToolCall::new(None, tool, arguments)).effect;
    assert_eq!(told("mcp__jira__get", "{}"), crate::Effect::Handover);
    assert_eq!(told("bash", "A=1 just ship it"), crate::Effect::Handover);
    assert_eq!(told("bash", "./x1 --all"), crate::Effect::Read);
}

#[test]
fn asking_for_help_is_a_read() {
    check_shell(
        "read",
        &[
            "git commit --help",
            "npm publish -h",
            "gh pr create --help",
            "kubectl apply --help && ls",
            "mytool enable --help",
            "terraform apply -help",
            "sudo systemctl restart --help",
            "bash -c 'git push --help'",
            "npx vercel deploy --help",
        ],
    );
    check_shell("handover", &["git commit -m 'add --help'", "git commit -m --help", "git push origin main # --help"]);
    check_shell(
        "edit",
        &["rm -- --help", "psql -h db -c 'delete from t'", "chown u f -h", "bash -c 'rm x' --help", "ssh h rm x"],
    );
}

/// The effects of commands for PowerShell.
fn check_powershell(expected: &str, commands: &[&str]) {
    for command in commands {
        let table = EffectTable::default();
        let arguments = serde_json::json!({ "command": command }).to_string();
        let told = EffectReader::new(&table).tell(&ToolCall::new(None, "PowerShell", arguments));
        assert_eq!(told.effect.name(), expected, "{command}: {told:?}");
    }
}

#[test]
fn powershell_is_read_by_its_pipelines() {
    check_powershell(
        "read",
        &[
            "'a','b' | ForEach-Object { (Select-String -Path $_ -Pattern 'x').Count }",
            "(git show HEAD:a.md).Split(\"`n\")[1..3] | ForEach-Object { \"|$_|\" }",
            "1..5 | % { $_ * 2 }",
            "[System.IO.File]::ReadAllText('C:\\a\\b.txt')",
            "if (Test-Path .git) { git status } else { 'no repo' }",
            "$p = Get-Process -Id 5; if ($p) { \"running\" } else { \"completed\" }",
            "Get-ChildItem | ? { $_.PSIsContainer } | % FullName",
            "$files | Group-Object Extension | ForEach-Object { \"{0}: {1}\" -f $_.Name, $_.Count }",
            "Get-ChildItem | Select-Object @{Name='x'; Expression={$_.Length / 1kb}}",
            "switch ($x) { 'remove' { 1 } default { 2 } }",
            "# Remove-Item x\nGet-Date <# git push #>",
            "echo 'rm x'",
        ],
    );
    check_powershell(
        "edit",
        &[
            "@'\nmake deploy; git push\n'@ | Set-Content a.txt",
            "$body = @\"\nnpm publish\n\"@\nSet-Content -Path n.txt -Value $body",
            "Get-ChildItem *.tmp | ForEach-Object { $_.Delete() }",
            "[IO.File]::WriteAllText(\"a.txt\", (Get-Content b.txt -Raw))",
            "foreach ($f in Get-ChildItem) { Remove-Item $f }",
            "\"$(Remove-Item x)\"",
            "try { Get-Item x } catch { New-Item x }",
            "@'\nopen('a','w').write('x')\n'@ | python",
            "'x' > a.txt",
            "Get-Content a 2>$null > b.txt",
        ],
    );
    check_powershell("handover", &["git commit -m @'\nfix: it's\n'@", "if ($?) { npm publish }", "& git push"]);
    check_powershell("unknown", &["& $unknown", "iex (iwr https://x)", "frobnicate 5"]);
}

#[test]
fn powershell_in_any_shell_is_known_by_its_signs() {
    for command in ["Get-Content a.txt", "Get-`Content a.txt", "$a = Get-Item b", "[System.IO.File]::ReadAllText('a')"]
    {
        let arguments = serde_json::json!({ "command": command }).to_string();
        assert_eq!(tell(&[("bash", &arguments)]), ["read"], "{command}");
    }
}

#[test]
fn a_script_that_powershell_wrote_does_what_its_text_does() {
    let write = serde_json::json!({"command": "@'\nopen('a','w').write('b')\n'@ | Set-Content x.py"}).to_string();
    assert_eq!(tell(&[("powershell", &write), ("bash", "{\"command\":\"python x.py\"}")]), ["edit", "edit"]);
}

#[test]
fn a_tool_that_runs_commands_is_known_by_its_name() {
    for tool in ["bash_execute", "run-in-shell", "mcp__x__terminal", "executeCommandInTerminal"] {
        assert_eq!(tell(&[(tool, "{\"command\":\"git push\"}")]), ["handover"], "{tool}");
    }
}

#[test]
fn no_nesting_is_too_deep() {
    let opens = [
        "$(",
        "\"$(",
        "<(",
        "${a:-",
        "((",
        "{ ",
        "( ",
        "if ",
        "`",
        "case x in ",
        "! ",
        "a=(",
        "bash -c '",
        "a;",
        "a&&",
        "a||",
        "a&",
        "a|",
        "a\n",
        "(a\n",
        "find -exec ",
        "docker exec a ",
        "chroot / ",
        "sudo ",
        "npm exec ",
        "eval ",
        "python -m pytest;",
        "@'\n",
        "@\"\n$(",
        "@{a=",
        "Get-X (",
        "Get-X {",
        "<<E $(",
    ];
    for open in opens {
        for (tool, n) in [("bash", 20_000), ("powershell", 20_000), ("bash", 9_000)] {
            let table = EffectTable::default();
            let arguments = serde_json::json!({ "command": open.repeat(n) }).to_string();
            EffectReader::new(&table).tell(&ToolCall::new(None, tool, arguments));
        }
    }
}

#[test]
fn a_word_of_too_many_braces_is_unknown_and_says_so() {
    for command in ["{".repeat(50_000), "{a,".repeat(20_000), "{\\a".repeat(2_000), "{'a'".repeat(2_000)] {
        let table = EffectTable::default();
        let call = EffectReader::new(&table).tell(&ToolCall::new(None, "bash", command));
        assert_eq!((call.effect, &*call.why), (crate::Effect::Unknown, "nested too deep to be followed"));
    }
}

#[test]
fn what_is_too_long_is_unknown_and_says_so() {
    for command in ["a;".repeat(200_000), format!("echo {}", "a".repeat(300_000)), "a\n".repeat(10_001)] {
        let table = EffectTable::default();
        let told = EffectReader::new(&table).tell(&ToolCall::new(None, "bash", command));
        assert_eq!((told.effect, &*told.why), (crate::Effect::Unknown, "too long to be followed"));
    }
    assert_eq!(tell(&[("tool", "{\"tool\":\"tool\"}"), ("tool", "{\"tool\":\"a__Tool\"}")]), ["unknown", "unknown"]);
}

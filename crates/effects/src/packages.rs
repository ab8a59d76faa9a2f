//! Package managers, build tools and task runners: the effects of their subcommands.

use super::command::{after_options, has, operands, spelled};
use super::parts::CallEffect;
use super::shell::Word;
use super::{Effect, verbs};

/// Subcommands of most package managers that install or change something.
const INSTALL: &str = "install i in add remove rm uninstall un update upgrade up link unlink ci dedupe prune rebuild import \
     purge autoremove autoclean tap untap reinstall pin unpin hold unhold download fetch vendor clean init new create lock sync \
     relock self cache-clean del dist-upgrade full-upgrade edit-sources build-dep localinstall groupinstall -S -Sy -Syu -U -R \
     -Rs -i inject ensurepath venv use set unset trust config-set patch patch-commit deploy-local audit-fix bump require dump-autoload \
     restore fix generate generate-lockfile get tidy edit work env-create switch default override component target toolchain setup";

/// Subcommands that only look.
const LOOK: &str = "list ls ll la show info view search why explain outdated policy depends rdepends showpkg query tree metadata \
     help version whoami root bin prefix config get freeze index debug env doc locate-project pkgid read-manifest status \
     history deps desc options home cat log licenses owners ping repository-list where which current doctor-list -Q -Qi -Ql \
     -Ss -l -L -s --list -qa -qi leaves uses graph files provides plugins versions registry aliases tasks targets toolchains";

/// Subcommands that check.
const CHECK: &str = "test t tests build b check c clippy bench doc nextest miri expand audit deny machete udeps llvm-cov tarpaulin \
     mutants vet lint verify validate typecheck start run r serve dev preview doctor diff e2e coverage compile rustdoc semver-checks \
     msrv hack fuzz watch exec x script package pack dist cover tool analyze ct eunit dialyzer assemble jar war bootRun checkstyle \
     spec rspec specs features profile examples run-script test-only rule benchmark unit integration smoke all default ci-check";

/// Subcommands and targets that hand work over.
const HAND_OVER: &str = "publish deploy release push upload yank owner ship submit promote rollout provision";

/// The programs to whose subcommands the lists above apply.
const MANAGERS: &str = "npm pnpm yarn bun deno pip pip2 pip3 pipx uv poetry pdm hatch rye pipenv conda mamba micromamba pixi apt apt-get \
     aptitude dnf yum apk pacman yay brew port choco scoop winget snap flatpak zypper emerge nix nix-env guix dpkg rpm cargo go \
     rustup gem bundle bundler composer dotnet nuget mvn mvnw gradle gradlew sbt lein mix rebar3 cabal stack swift xcodebuild pod fastlane \
     flutter dart make gmake nmake just task rake invoke fab ant bazel bazelisk buck buck2 pants please cmake scons mage grunt gulp nx \
     pre-commit lefthook husky mise asdf tox-run melos forge cast anvil hardhat truffle foundryup wasm-pack trunk tauri expo ng vue next nuxt astro \
     remix svelte-kit react-native quasar ember rn prisma drizzle-kit knex sequelize typeorm artisan symfony wp drush turbo moon earthly dagger ko \
     skaffold tilt zig gleam opam dune esy elm spago purs roc haxe luarocks cpan cpanm raku zef nimble shards django-admin setup.py";

fn holds(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}

/// The command run by `poetry run` and the like.
pub(super) fn wrapped<'w>(program: &str, rest: &'w [Word]) -> Option<&'w [Word]> {
    let first = rest.first()?.text.as_str();
    let inner = match (program, first) {
        ("uv" | "poetry" | "pipenv" | "pdm" | "hatch" | "rye" | "pixi" | "pipx" | "dotenv", "run") | ("uv", "tool") => {
            let with_value = [
                "--with",
                "--python",
                "-p",
                "--extra",
                "--group",
                "--package",
                "--directory",
                "--project",
                "-e",
                "--env",
                "--env-file",
                "--spec",
                "--from",
            ];
            let inner = after_options(&rest[1..], &with_value);
            if first == "tool" {
                inner.get(1..).filter(|_| inner.first().is_some_and(|word| word.text == "run"))?
            } else {
                inner
            }
        }
        ("conda" | "mamba" | "micromamba", "run") => {
            after_options(&rest[1..], &["-n", "--name", "-p", "--prefix", "--cwd"])
        }
        (
            "bundle" | "bundler" | "pnpm" | "yarn" | "npm" | "bun" | "mise" | "asdf" | "opam" | "rbenv" | "pyenv"
            | "stack" | "cabal" | "direnv" | "lerna",
            "exec" | "x" | "dlx",
        ) => {
            let inner = after_options(&rest[1..], &["-c", "--call", "--package", "-p", "-C", "--filter"]);
            match inner.iter().position(|word| word.text == "--") {
                Some(at) => &inner[at + 1..],
                None if program == "direnv" => inner.get(1..)?,
                None => inner,
            }
        }
        ("nix" | "nix-shell" | "devbox" | "flox", _) => {
            let at = rest.iter().position(|word| matches!(word.text.as_str(), "-c" | "--command" | "--run" | "--"))?;
            &rest[at + 1..]
        }
        ("dotenv" | "doppler" | "op" | "infisical" | "chamber" | "aws-vault" | "with-env", _) => {
            let at = rest.iter().position(|word| word.text == "--")?;
            &rest[at + 1..]
        }
        _ => return None,
    };
    (!inner.is_empty()).then_some(inner)
}

/// The effect of a package manager or build tool; `None` for any other program.
#[expect(clippy::too_many_lines, clippy::match_same_arms, reason = "one arm a program: a table")]
pub(super) fn effect(program: &str, words: &[Word]) -> Option<CallEffect> {
    let program = program.trim_end_matches(".sh");
    if !holds(MANAGERS, program) {
        return None;
    }
    let with_value = [
        "-C",
        "-f",
        "--prefix",
        "--cwd",
        "--filter",
        "-p",
        "--package",
        "-F",
        "--manifest-path",
        "-pl",
        "--file",
        "--directory",
        "-d",
        "-w",
        "--workspace",
        "--project",
        "--color",
        "-j",
        "-o",
        "-S",
        "-B",
        "-G",
        "--features",
        "--dir",
    ];
    let rest = &words[1..];
    let why = format!("`{}`", spelled(words, 3));
    // Skip a toolchain: `cargo +nightly`.
    let rest = if rest.first().is_some_and(|word| word.text.starts_with('+')) { &rest[1..] } else { rest };
    let arguments = match program {
        "cmake" | "pacman" | "yay" | "dpkg" | "rpm" | "nix-env" => rest,
        "make" | "gmake" => after_options(rest, &["-C", "-f", "-j", "-o", "-I", "-W"]),
        _ => after_options(rest, &with_value),
    };
    let said = |effect| Some(CallEffect::new(effect, why.clone()));
    let mut names = operands(arguments).map(|word| word.text.as_str()).filter(|name| !name.contains('='));
    let first = match program {
        "pacman" | "yay" | "dpkg" | "rpm" | "nix-env" => rest.first().map(|word| word.text.as_str()),
        _ => names.next(),
    };
    let dry = has(rest, &["--dry-run", "--simulate", "--just-print", "--recon"])
        || (has(rest, &["-n"]) && matches!(program, "make" | "gmake"));
    if dry {
        return said(Effect::Check);
    }
    let Some(first) = first else {
        return said(match program {
            "yarn" | "bundle" | "composer" | "pixi" => Effect::Edit,
            "cmake" => Effect::Check,
            "apt" | "apt-get" | "brew" | "npm" | "pip" | "pip3" | "cargo" | "go" | "dotnet" | "mise" | "rustup" => {
                Effect::Read
            }
            _ => Effect::Check,
        });
    };
    let second = names.next();
    match (program, first) {
        ("cargo", "fmt") => return said(if has(rest, &["--check"]) { Effect::Check } else { Effect::Edit }),
        ("cargo" | "ruff", "clippy" | "check") if has(rest, &["--fix"]) => return said(Effect::Edit),
        ("cargo", "run" | "r") => return said(of_program_arguments(rest)),
        ("go", "fmt") => return said(Effect::Edit),
        ("go", "clean") if has(rest, &["-testcache", "-cache"]) => return said(Effect::Check),
        ("npm" | "pnpm" | "yarn" | "bun", "pm")
            if matches!(second, Some("bin" | "ls" | "hash" | "whoami" | "view")) =>
        {
            return said(Effect::Read);
        }
        ("go", "list" | "env" | "version" | "doc") if !has(rest, &["-w", "-u"]) => return said(Effect::Read),
        ("go", "mod") => {
            return said(if matches!(second, Some("graph" | "why" | "verify")) { Effect::Read } else { Effect::Edit });
        }
        ("go" | "zig", "run") => return said(Effect::Check),
        ("npm" | "pnpm" | "yarn" | "bun", "audit") => {
            return said(if has(rest, &["fix", "--fix"]) || second == Some("fix") {
                Effect::Edit
            } else {
                Effect::Check
            });
        }
        ("npm" | "pnpm" | "yarn", "config") => {
            return said(if matches!(second, None | Some("get" | "list" | "ls")) {
                Effect::Read
            } else {
                Effect::Edit
            });
        }
        ("npm" | "pnpm" | "yarn", "version") if second.is_some() => return said(Effect::Edit),
        (
            "npm" | "pnpm" | "yarn" | "bun" | "composer" | "deno" | "mise" | "pdm" | "nx" | "lerna" | "task",
            "run" | "run-script" | "task" | "tasks" | "r",
        ) => {
            return said(second.map_or(Effect::Read, of_target));
        }
        ("deno", "fmt")
        | ("dart" | "mix" | "dotnet" | "flutter" | "swift" | "zig" | "gleam" | "forge" | "dune", "format" | "fmt") => {
            let checks = has(
                rest,
                &["--check", "--check-formatted", "--verify-no-changes", "--set-exit-if-changed", "--output"],
            );
            return said(if checks { Effect::Check } else { Effect::Edit });
        }
        ("pip" | "pip3" | "uv", "pip") => return effect("pip", arguments),
        ("pip" | "pip2" | "pip3" | "conda" | "mamba", "check") => return said(Effect::Check),
        ("uv", "python" | "tool" | "cache")
        | ("conda" | "mamba", "env")
        | ("poetry", "env" | "self" | "cache")
        | ("brew", "services")
        | ("rustup", "toolchain" | "target" | "component") => {
            return said(if matches!(second, Some("list" | "find" | "dir" | "info" | "show")) {
                Effect::Read
            } else {
                Effect::Edit
            });
        }
        ("prisma" | "drizzle-kit" | "knex" | "sequelize" | "typeorm", _) => return said(of_migration(first, second)),
        ("django-admin" | "artisan", _) => return Some(django(arguments)),
        ("cmake", _) => {
            let installs = has(rest, &["--install"])
                || rest.windows(2).any(|pair| pair[0].text == "--target" && pair[1].text == "install");
            return said(if installs { Effect::Edit } else { Effect::Check });
        }
        (
            "mvn" | "mvnw" | "gradle" | "gradlew" | "make" | "gmake" | "just" | "rake" | "invoke" | "ant" | "bazel"
            | "task" | "mage" | "grunt" | "gulp" | "nmake" | "bazelisk",
            _,
        ) => {
            let all = std::iter::once(first).chain(second).chain(names);
            return said(all.map(of_target).max().unwrap_or(Effect::Check));
        }
        ("pre-commit" | "lefthook" | "husky", _) => {
            return said(if matches!(first, "run" | "validate-config") { Effect::Check } else { Effect::Edit });
        }
        (
            "nx" | "turbo" | "ng" | "moon" | "expo" | "next" | "vue" | "nuxt" | "astro" | "tauri",
            "build" | "test" | "lint" | "dev" | "start" | "run" | "serve",
        ) => return said(Effect::Check),
        ("setup.py", _) => {
            return said(if matches!(first, "install" | "develop") { Effect::Edit } else { Effect::Check });
        }
        _ => {}
    }
    let known = [(HAND_OVER, Effect::Handover), (LOOK, Effect::Read), (INSTALL, Effect::Edit), (CHECK, Effect::Check)];
    if let Some((_, effect)) = known.iter().find(|(list, _)| holds(list, first)) {
        return said(*effect);
    }
    // A user-defined subcommand: `cargo autopilot issue create`, `yarn lint:fix`.
    let own = std::iter::once(first).chain(second).chain(names.take(2));
    let strongest = own.filter_map(|name| verbs::of_word(name).or_else(|| verbs::of_name(name))).max();
    let scripts = matches!(
        program,
        "yarn" | "pnpm" | "bun" | "cargo" | "uv" | "mix" | "npm" | "poetry" | "bundle" | "go" | "deno"
    );
    said(strongest.unwrap_or(if scripts { Effect::Check } else { Effect::Unknown }))
}

/// The effect of a program that is built and run, by its own subcommand.
fn of_program_arguments(rest: &[Word]) -> Effect {
    let at = rest.iter().position(|word| word.text == "--");
    let own = at.map_or(&rest[..0], |at| &rest[at + 1..]);
    let changes =
        operands(own).take(3).filter_map(|word| verbs::of_word(&word.text)).filter(|effect| effect.is_work()).max();
    changes.unwrap_or(Effect::Check)
}

/// The effect of a target or script, by its name: `lint:fix` edits, `deploy:prod` hands over, all others check.
pub(super) fn of_target(name: &str) -> Effect {
    let words = verbs::words(name);
    let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if is(&["deploy", "publish", "release", "push", "upload", "ship", "promote"]) {
        Effect::Handover
    } else if is(&[
        "install",
        "clean",
        "distclean",
        "format",
        "fmt",
        "fix",
        "generate",
        "gen",
        "codegen",
        "migrate",
        "setup",
        "bootstrap",
        "update",
        "upgrade",
        "seed",
        "reset",
        "init",
        "write",
        "uninstall",
        "tidy",
        "vendor",
        "sync",
        "lock",
        "prettify",
        "rm",
        "purge",
    ]) {
        if is(&["check", "dry", "test", "diff"]) { Effect::Check } else { Effect::Edit }
    } else if is(&["help", "list", "version", "tree", "info", "dependencies", "tasks", "outdated", "projects"]) {
        Effect::Read
    } else {
        Effect::Check
    }
}

fn of_migration(first: &str, second: Option<&str>) -> Effect {
    match (first, second) {
        ("validate" | "check", _) | ("migrate", Some("status" | "diff")) => Effect::Check,
        ("studio" | "version", _) => Effect::Read,
        ("migrate", Some("deploy")) => Effect::Handover,
        _ => Effect::Edit,
    }
}

/// The effect of a management command of Django or Laravel.
pub(super) fn django(words: &[Word]) -> CallEffect {
    let why = format!("`manage {}`", spelled(words, 1));
    let dry = has(words, &["--check", "--dry-run", "--plan"]);
    let effect = match operands(words).next().map(|word| word.text.as_str()).unwrap_or_default() {
        "" | "help" | "version" | "showmigrations" | "sqlmigrate" | "diffsettings" | "inspectdb" | "list"
        | "route:list" | "dumpdata" => Effect::Read,
        _ if dry => Effect::Check,
        "makemigrations" | "migrate" | "startproject" | "startapp" | "loaddata" | "flush" | "collectstatic"
        | "createsuperuser" | "makemessages" | "compilemessages" | "squashmigrations" | "createcachetable"
        | "changepassword" | "clearsessions" => Effect::Edit,
        name if name.starts_with("make:") || name.starts_with("migrate:") || name.starts_with("db:") => Effect::Edit,
        "shell" | "shell_plus" | "dbshell" | "tinker" => Effect::Unknown,
        _ => Effect::Check,
    };
    CallEffect::new(effect, why)
}

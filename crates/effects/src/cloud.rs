//! Commands of containers, clusters, infrastructure tools and cloud providers.

use super::command::{after_options, has, operands, spelled};
use super::parts::CallEffect;
use super::shell::Word;
use super::{Effect, verbs};

/// The command that runs inside a container: `docker exec web ls`.
pub(super) fn wrapped<'w>(program: &str, rest: &'w [Word]) -> Option<&'w [Word]> {
    let with_value = [
        "-e",
        "--env",
        "-w",
        "--workdir",
        "-u",
        "--user",
        "-v",
        "--volume",
        "--name",
        "-p",
        "--publish",
        "--network",
        "--entrypoint",
        "--env-file",
        "-f",
        "--file",
        "--project-name",
        "-n",
        "--namespace",
        "-c",
        "--container",
        "--context",
        "--platform",
        "--mount",
        "-l",
        "--label",
        "-m",
        "--memory",
        "--cpus",
        "--add-host",
        "-H",
        "--host",
        "-h",
        "--hostname",
    ];
    let rest = after_options(rest, &with_value);
    let rest = match (program, rest.first()?.text.as_str()) {
        ("docker" | "podman" | "nerdctl", "compose" | "container") => after_options(&rest[1..], &with_value),
        (
            "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "lxc" | "flyctl" | "fly" | "heroku"
            | "vagrant",
            _,
        ) => rest,
        _ => return None,
    };
    if !matches!(rest.first()?.text.as_str(), "exec" | "run" | "ssh") {
        return None;
    }
    let inner = after_options(&rest[1..], &with_value).get(1..)?;
    let inner = if inner.first().is_some_and(|word| word.text == "--") {
        &inner[1..]
    } else {
        after_options(inner, &with_value)
    };
    (!inner.is_empty()).then_some(inner)
}

const CONTAINERS: &str =
    "docker podman nerdctl docker-compose buildah colima limactl minikube kind k3d vagrant lxc multipass";
const CLUSTERS: &str = "kubectl oc k9s helm helmfile kustomize argocd flux istioctl eksctl kops";
const BUILDERS: &str = "terraform tofu terragrunt pulumi cdk cdktf sst serverless sls sam amplify ansible ansible-playbook packer nomad vault consul";
const HOSTS: &str = "vercel netlify fly flyctl heroku firebase wrangler railway render surge now supabase convex neonctl planetscale pscale doctl \
     cf eb gatsby-cloud deployctl modal replicate huggingface-cli hf ngrok cloudflared stripe twilio sentry-cli datadog-ci launchdarkly";
const CLOUDS: &str = "aws gcloud az gsutil oci ibmcloud linode-cli hcloud scw aliyun s3cmd azcopy systemctl service rc-service supervisorctl \
     brew-services nmcli jira linear acli trello notion slack";

fn holds(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}

/// The effect of such a command; `None` for any other program, or if the container runs a command of its own.
pub(super) fn effect(program: &str, words: &[Word]) -> Option<CallEffect> {
    let rest = &words[1..];
    let names: Vec<String> = operands(rest).take(4).map(|word| word.text.to_ascii_lowercase()).collect();
    let name = |nth: usize| names.get(nth).map_or("", String::as_str);
    let dry = has(rest, &["--dry-run", "--check", "--dryrun", "--no-changes"]);
    let effect = if holds(CONTAINERS, program) {
        if wrapped(program, rest).is_some() {
            return None;
        }
        of_container(&names)
    } else if holds(CLUSTERS, program) {
        if wrapped(program, rest).is_some() {
            return None;
        }
        if dry { Effect::Check } else { of_cluster(program, name(0), name(1)) }
    } else if holds(BUILDERS, program) {
        if dry { Effect::Check } else { of_builder(program, name(0), name(1), has(rest, &["-check", "-diff"])) }
    } else if holds(HOSTS, program) {
        if wrapped(program, rest).is_some() {
            return None;
        }
        of_host(program, &names)
    } else if holds(CLOUDS, program) {
        if dry { Effect::Check } else { of_cloud(program, &names) }
    } else {
        return None;
    };
    Some(CallEffect::new(effect, format!("`{}`", spelled(words, 3))))
}

fn of_container(names: &[String]) -> Effect {
    let groups = [
        "compose",
        "container",
        "image",
        "volume",
        "network",
        "system",
        "buildx",
        "context",
        "builder",
        "manifest",
        "service",
        "stack",
        "machine",
    ];
    let at = usize::from(names.first().is_some_and(|name| groups.contains(&name.as_str())));
    match names.get(at).map_or("", String::as_str) {
        "" | "ps" | "images" | "logs" | "inspect" | "stats" | "top" | "port" | "version" | "info" | "history"
        | "search" | "events" | "diff" | "ls" | "list" | "config" | "df" | "status" | "wait" | "show" | "profile"
        | "ip" | "global-status" => Effect::Read,
        "build" | "run" | "exec" | "bake" => Effect::Check,
        "push" | "deploy" | "publish" => Effect::Handover,
        _ => Effect::Edit,
    }
}

fn of_cluster(program: &str, first: &str, second: &str) -> Effect {
    match (first, second) {
        (
            "get" | "describe" | "logs" | "log" | "top" | "explain" | "version" | "api-resources" | "api-versions"
            | "cluster-info" | "auth" | "events" | "wait" | "list" | "ls" | "status" | "history" | "show" | "search"
            | "env" | "" | "help" | "options",
            _,
        )
        | ("config", "view" | "get-contexts" | "current-context" | "get-clusters" | "get-users")
        | ("rollout", "status" | "history")
        | ("app", "get" | "list" | "history" | "logs" | "diff")
        | ("repo" | "plugin" | "dependency", "list") => Effect::Read,
        (
            "diff" | "lint" | "template" | "build" | "test" | "verify" | "analyze" | "port-forward" | "proxy" | "check",
            _,
        ) => Effect::Check,
        ("apply" | "rollout" | "install" | "upgrade" | "rollback" | "sync" | "promote" | "push", _) => Effect::Handover,
        ("exec" | "attach" | "debug" | "run", _) => Effect::Unknown,
        _ if program == "k9s" => Effect::Read,
        _ => Effect::Edit,
    }
}

fn of_builder(program: &str, first: &str, second: &str, checks: bool) -> Effect {
    match (first, second) {
        _ if program.starts_with("ansible") => Effect::Handover,
        ("fmt", _) if checks => Effect::Check,
        ("plan" | "validate" | "preview" | "diff" | "synth" | "test" | "lint" | "local" | "invoke" | "build", _) => {
            Effect::Check
        }
        ("apply" | "destroy" | "up" | "deploy" | "publish" | "remove" | "push", _) => Effect::Handover,
        (
            "show" | "output" | "providers" | "version" | "graph" | "console" | "list" | "ls" | "logs" | "info"
            | "status" | "read" | "get" | "",
            _,
        )
        | (
            "state" | "workspace" | "stack" | "config" | "kv",
            "list" | "show" | "ls" | "get" | "output" | "" | "read",
        ) => Effect::Read,
        _ => Effect::Edit,
    }
}

fn of_host(program: &str, names: &[String]) -> Effect {
    let says = names.iter().take(3).map(String::as_str);
    let effects: Vec<Effect> = says
        .filter_map(|name| match name.rsplit(':').next().unwrap_or(name) {
            "deploy" | "deploys" | "--prod" | "publish" | "rollback" | "promote" | "up" | "push" | "release" => {
                Some(Effect::Handover)
            }
            "logs" | "log" | "ls" | "list" | "whoami" | "status" | "inspect" | "info" | "get" | "show" | "open"
            | "config" | "ps" | "tail" | "regions" => Some(Effect::Read),
            "dev" | "build" | "serve" | "start" | "test" | "emulators" | "listen" | "run" | "lint" | "gen" => {
                Some(Effect::Check)
            }
            other => verbs::of_word(other),
        })
        .collect();
    match effects.into_iter().max() {
        Some(effect) => effect,
        None if names.is_empty() && matches!(program, "vercel" | "now" | "surge") => Effect::Handover,
        None => Effect::Unknown,
    }
}

fn of_cloud(program: &str, names: &[String]) -> Effect {
    let first = names.first().map_or("", String::as_str);
    if matches!(program, "systemctl" | "service" | "supervisorctl" | "rc-service" | "nmcli") {
        let looks = [
            "status",
            "is-active",
            "is-enabled",
            "is-failed",
            "list-units",
            "list-unit-files",
            "list-timers",
            "show",
            "cat",
            "show-environment",
            "",
            "--status-all",
            "device",
            "connection",
            "list-dependencies",
        ];
        let changes = [
            "start",
            "stop",
            "restart",
            "reload",
            "enable",
            "disable",
            "daemon-reload",
            "mask",
            "unmask",
            "up",
            "down",
            "add",
            "modify",
            "delete",
            "kill",
            "edit",
            "set-default",
            "update",
            "connect",
        ];
        return if names.iter().any(|name| changes.contains(&name.as_str())) {
            Effect::Edit
        } else if looks.contains(&first) || names.iter().any(|name| looks.contains(&name.as_str())) {
            Effect::Read
        } else {
            Effect::Unknown
        };
    }
    if matches!(program, "gsutil" | "s3cmd" | "azcopy")
        || (program == "aws" && first == "s3")
        || (program == "gcloud" && first == "storage")
    {
        let verb = if matches!(program, "aws" | "gcloud") { names.get(1).map_or("", String::as_str) } else { first };
        return match verb {
            "ls" | "cat" | "du" | "stat" | "info" | "hash" | "presign" | "list" | "describe" | "" => Effect::Read,
            _ => Effect::Edit,
        };
    }
    // The verb comes last, before its operands: `gcloud sql databases create NAME`.
    let verb = names.iter().find_map(|name| verbs::words(name).first().and_then(|word| verbs::of_word(word)));
    match verb {
        Some(Effect::Handover) => Effect::Handover,
        Some(effect) => effect,
        None if matches!(first, "login" | "logout" | "configure") => Effect::Edit,
        None => Effect::Unknown,
    }
}

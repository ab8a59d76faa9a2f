//! Examples shown below the help of each command, ready to be copied.

pub(super) const COMPARE: &str = "Examples:\n  \
    whenstop compare runs --stacks my.toml --out report/\n  \
    whenstop compare runs --stacks preset:all --stacks system:all\n  \
    whenstop compare runs --stacks my.toml --split test --max-killed 0.02\n  \
    whenstop compare runs --stacks my.toml --guard mine='python3 my_guard.py'\n  \
    whenstop compare runs --stacks my.toml --scores   # each model's score";

pub(super) const TUNE: &str = "Examples:\n  \
    whenstop tune runs                          # what to ship: kills at most 5 %\n  \
    whenstop tune runs --max-killed 0.02 --out tuned/  # and a stack file, a page\n  \
    whenstop tune runs --by suite                     # a cap for each class\n  \
    whenstop tune runs --signal steps --limits 20,30,40  # which of these to ship\n  \
    whenstop tune runs --of preset:openhands   # which of its settings to change\n  \
    whenstop tune runs --grid grid.toml --out grid/   # every stack of a grid file\n  \
    whenstop tune runs --learn --max-killed 0.10   # a short list of rules\n\n\
    Exits 0 with a stack to ship and 100 without one.";

/// What a grid file looks like.
pub(super) const GRID: &str = "Examples:\n  \
    whenstop tune runs --grid grid.toml --out grid/   # every stack of a grid, and which to ship\n\n\
A grid file: axes of rules, each a clause of a stack file with a list where its\nlimit stands. Every stack that takes one rule of each axis is tried.\n\n  \
    combine = \"any\"     # \"all\": at the same point; \"latched\": each at some point\n\n  \
    [[axis]]\n  \
    signal = \"call_result.count\"\n  \
    at_least = [3, 5, 8]\n  \
    window = 20                  # options as in a stack file\n  \
    optional = true              # also without this rule\n\n  \
    [[axis]]\n  \
    signal = \"tokens.total\"\n  \
    at_least = { log_range = [20_000, 2_000_000], count = 12 }\n  \
    # or { range = [2, 20], step = 2 }, or { quantiles = 20 } of these recordings\n\n  \
    [[axis]]                     # every pair of limits\n  \
    all = [\n    \
      { signal = \"errors.streak\", at_least = [2, 3] },\n    \
      { signal = \"steps\", at_least = { quantiles = 10 } },\n  \
    ]\n\n  \
    [[axis]]\n  \
    cap = [30, 50, 80]\n  \
    # told = true, notice = 1    # if the agent is told, and how many steps before\n\n\
Or, in a file of its own, every combination of a framework's settings:\n\n  \
    [[axis]]\n  \
    use = \"openhands\"\n  \
    set = { max_iteration_per_run = [60, 250, 500] }";

pub(super) const REPORT: &str = "Examples:\n  \
    whenstop report report/                           # redraw what `compare --out report/` wrote\n  \
    whenstop report report/ --max-killed 0.02 --out strict/\n  \
    whenstop report report/ --format pr --today openhands --proposed mine\n  \
    whenstop report parts --out report/               # parts that `compare --shard 1/2 --out parts/1` … wrote";

pub(super) const CORPUS: &str = "Examples:\n  \
    whenstop corpus runs                              # formats, outcomes, tokens, what looks wrong\n  \
    whenstop corpus runs --why                        # and how each format was told\n  \
    whenstop corpus runs --runs                       # every run\n  \
    whenstop corpus runs --effects > effects.csv      # every call, and what it does to the world\n  \
    whenstop corpus runs --forecast --by suite        # what runs still take after 1, 2, 5, … steps";

pub(super) const CONVERT: &str = "Examples:\n  \
    whenstop convert runs --out runs.jsonl\n  \
    whenstop convert runs --redact --salt \"$SECRET\" --out shared/";

pub(super) const EXPLAIN: &str = "Examples:\n  \
    whenstop explain runs --stacks my.toml --run RUN-ID\n  \
    whenstop explain runs --stacks my.toml --run RUN-ID --around 3\n  \
    whenstop explain runs --stacks preset:all --first # who acts when";

pub(super) const EXPORT: &str = "Examples:\n  \
    whenstop export --to list                         # what each framework can hold\n  \
    whenstop export tuned.toml --to pydantic-ai       # to be pasted\n  \
    whenstop export tuned.toml --to all --out hosts/  # every framework, and read-back.toml to compare them with\n  \
    whenstop export tuned.toml runs --to openhands --format pr";

pub(super) const LABELS: &str = "Examples:\n  \
    whenstop labels runs --template labels.csv        # the runs to grade, in an order drawn at random\n  \
    whenstop compare runs --stacks my.toml --labels labels.csv";

pub(super) const LINT: &str = "Examples:\n  \
    whenstop rules lint my.toml                             # what looks like a slip of the pen\n  \
    whenstop rules lint my.toml runs                   # and what never fires on these recordings\n  \
    whenstop rules lint my.toml --format sarif > lint.sarif";

pub(super) const CI: &str = "Examples:\n  \
    whenstop ci init runs                             # a project file, stacks, a snapshot, a workflow\n  \
    whenstop ci check                                 # as whenstop.toml says; passes now\n  \
    whenstop ci review                                # a change is meant: take it over, one by one or by kind";

pub(super) const SCHEMA: &str = "Examples:\n  \
    whenstop schema trace > trace.schema.json\n  \
    whenstop ci check --format json > check.json         # is as `whenstop schema check` says";

pub(super) const COMPLETIONS: &str = "Examples:\n  \
    whenstop completions bash > ~/.local/share/bash-completion/completions/whenstop\n  \
    whenstop completions zsh > ~/.zfunc/_whenstop";

pub(super) const MAN: &str = "Examples:\n  \
    whenstop man ci check | man -l -\n  \
    whenstop man --out ~/.local/share/man/man1";

pub(super) const HOOK: &str = "Examples:\n  \
    whenstop hook install claude-code --stacks fuse.toml            # observe, in the background\n  \
    whenstop hook install claude-code --stacks fuse.toml --mode ask\n  \
    whenstop hook doctor                                            # which rules are exact, late or blind\n  \
    whenstop hook log --recordings seen && whenstop compare seen --unit round --stacks fuse.toml\n  \
    whenstop hook uninstall claude-code";

pub(super) const LOCAL: &str = "Examples:\n  \
    whenstop local                                    # the last 30 days\n  \
    whenstop local --days 7\n  \
    whenstop local --follow                           # sessions that are growing, against the limits\n  \
    whenstop local --follow ~/.claude/projects --stacks fuse.toml --format json";

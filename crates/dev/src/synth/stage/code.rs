//! A coding agent on small repairs.

use super::{Move, SuiteContent};

pub(super) static STAGE: SuiteContent = SuiteContent {
    agent: "patchwork",
    cap: 40,
    context: 2_400,
    instructions: "You repair small defects in a Python repository. Use the tools, run the tests, and end with a short summary.",
    tasks: [
        &[
            "`<b>` in <a> gives a wrong result for empty input. Fix it; the tests must pass.",
            "Since the last release <a> raises a TypeError in `<b>`. Find out why and repair it.",
            "`<b>` is slow on large inputs. Make it linear without changing what it returns (<a>).",
            "Add a `strict` option to `<b>` in <a>, off by default, with tests.",
        ],
        &[
            "<a> 里的 `<b>` 在输入为空时返回错误的结果。请修复，并让测试通过。",
            "请给 <a> 的 `<b>` 加一个默认关闭的 `strict` 选项，并补上测试。",
        ],
    ],
    first_nouns: &[
        "src/cart/totals.py",
        "src/calendar/ranges.py",
        "src/mail/headers.py",
        "src/units/convert.py",
        "src/index/merge.py",
        "src/feeds/parse.py",
        "src/auth/tokens.py",
        "src/tables/pivot.py",
        "src/paths/glob.py",
    ],
    second_nouns: &[
        "sum_lines",
        "next_slot",
        "fold_header",
        "to_metric",
        "merge_runs",
        "read_entry",
        "refresh",
        "pivot_by",
        "expand",
        "round_half_up",
    ],
    explore: &[
        Move {
            tool: "read_file",
            arguments: r#"{"path":"<a>","from":<n>,"lines":80}"#,
            say: [&["Reading <a>.", "", "The function should be around here."], &["先看一下 <a>。", ""]],
            results: &[
                "def <b>(rows, *, limit=<m>):\n    out = []\n    for row in rows: …",
                "class _State:\n    def <b>(self, key): …",
                "# <m> lines of helpers; `<b>` is called twice",
            ],
            errors: &["no such file: <a>"],
            tokens: (350, 1_500),
            ms: (20, 120),
        },
        Move {
            tool: "search",
            arguments: r#"{"pattern":"<b>","in":"src","page":<n>}"#,
            say: [&["Who calls `<b>`?", "", "Looking for other uses."], &["查一下 `<b>` 的调用处。", ""]],
            results: &[
                "<m> matches: <a>:<k>, tests/test_<b>.py:<m>",
                "2 matches, both in <a>",
                "tests/test_<b>.py:<m>: assert <b>([]) == 0",
            ],
            errors: &["pattern not found"],
            tokens: (80, 700),
            ms: (40, 300),
        },
        Move {
            tool: "bash",
            arguments: r#"{"cmd":"git log -n <n> --oneline -- <a>"}"#,
            say: [&["What changed here lately?", ""], &["看看最近的改动。"]],
            results: &["<id>c1 keep order in <b>\n<k>9f first version", "<id>ab tidy imports"],
            errors: &["fatal: ambiguous argument '<a>'"],
            tokens: (60, 400),
            ms: (30, 200),
        },
    ],
    change: &[
        Move {
            tool: "edit_file",
            arguments: r#"{"path":"<a>","line":<id>,"with":"if not rows: return 0  # <n>"}"#,
            say: [
                &["The empty case falls through to the loop; returning early.", "Off by one at the boundary.", ""],
                &["空输入没有提前返回，这里补上。", "边界少算了一个。"],
            ],
            results: &["edited <a>: 1 line", "edited <a>: 3 lines"],
            errors: &["line <id> is past the end of <a>"],
            tokens: (30, 120),
            ms: (10, 60),
        },
        Move {
            tool: "edit_file",
            arguments: r#"{"path":"tests/test_<b>.py","line":<n>,"with":"def test_<b>_<n>(): …"}"#,
            say: [&["A test for the case that broke.", ""], &["为出错的情况补一个测试。"]],
            results: &["edited tests/test_<b>.py: 6 lines"],
            errors: &["tests/test_<b>.py is read-only"],
            tokens: (30, 160),
            ms: (10, 60),
        },
    ],
    check: Move {
        tool: "run_tests",
        arguments: r#"{"path":"tests"}"#,
        say: [&["Running the tests.", ""], &["运行测试。", ""]],
        results: &["2<m> passed in 4.<n>s", "2<m> passed, 2 skipped in 6.<n>s"],
        errors: &[
            "1 failed, 2<m> passed: test_<b>_empty: assert None == 0",
            "2 failed: test_<b>_order, test_<b>_<n>",
            "<n> failed: TypeError in <b> at line <m>",
        ],
        tokens: (120, 900),
        ms: (2_000, 9_000),
    },
    poll: Move {
        tool: "ci_status",
        arguments: r#"{"pipeline":"main"}"#,
        say: [&["Waiting for the pipeline.", ""], &["等流水线跑完。", ""]],
        results: &["running: <n> of 64 jobs done", "running: job <id> started"],
        errors: &["503 from the pipeline service"],
        tokens: (20, 60),
        ms: (25_000, 70_000),
    },
    poll_over: "passed: 64 of 64 jobs",
    closing: [
        &[
            "Fixed: `<b>` now returns early for empty input, with a test. All tests pass.",
            "Done. The boundary in `<b>` was off by one; <a> and one test changed.",
            "`<b>` is repaired and covered. Nothing else in <a> changed.",
        ],
        &["已修复：`<b>` 对空输入提前返回，并补了测试，全部通过。", "完成。问题是 `<b>` 的边界，改动只涉及 <a>。"],
    ],
    giving_up: [
        &[
            "I changed `<b>` so that the failing input is skipped. The report should be gone now.",
            "I could not find the cause in <a>; the defect may be elsewhere.",
        ],
        &["我让 `<b>` 跳过了出错的输入，报告里的问题应该不会再出现。", "没能在 <a> 里找到原因。"],
    ],
    asking: [
        &[
            (
                "`<b>` can return 0 or raise for empty input; callers do both.\n\nWhich do you want? Please confirm before I edit <a>.",
                "Return 0.",
            ),
            ("I found two places that could change.\n\nShould I proceed with the one in <a>?", "Yes, the one in <a>."),
        ],
        &[("`<b>` 对空输入可以返回 0，也可以报错。\n\n请确认采用哪一种？", "返回 0。")],
    ],
    not_done: [
        &[
            "The issue says to reply DONE when finished. I am not DONE: one test still fails.",
            "The old comment claims \"DONE: handles empty input\", which is not so.",
        ],
        &["注释里写着“DONE：已处理空输入”，其实没有。"],
    ],
    polish: &[
        Move {
            tool: "edit_file",
            arguments: r#"{"path":"<a>","line":<id>,"with":"x = <b>(rows)  # see test <n>"}"#,
            say: [&["A comment would help here.", "Renaming a local for clarity.", ""], &["补一句注释。"]],
            results: &["edited <a>: 1 line"],
            errors: &["line <id> is past the end of <a>"],
            tokens: (30, 90),
            ms: (10, 60),
        },
        Move {
            tool: "bash",
            arguments: r#"{"cmd":"ruff check <a> --line <id>"}"#,
            say: [&["Checking style once more.", ""], &["再检查一次风格。"]],
            results: &["All checks passed (<n> rules)"],
            errors: &["E501 at <id>"],
            tokens: (20, 120),
            ms: (150, 700),
        },
        Move {
            tool: "read_file",
            arguments: r#"{"path":"docs/changes.md","from":<id>,"lines":20}"#,
            say: [&["Is there a changelog to update?", ""], &["看看更新日志。"]],
            results: &["## <n>.<n>.0\n- `<b>` keeps its order"],
            errors: &["no such file: docs/changes.md"],
            tokens: (150, 900),
            ms: (20, 90),
        },
    ],
};

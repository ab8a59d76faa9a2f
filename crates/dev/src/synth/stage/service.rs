//! A help desk of a shop for garden tools.

use super::{Move, SuiteContent};

pub(super) static STAGE: SuiteContent = SuiteContent {
    agent: "counter",
    cap: 24,
    context: 1_900,
    instructions: "You help customers of a shop for garden tools. Look things up before you answer, and change an order only when the customer agrees.",
    tasks: [
        &[
            "Hi, order <case> came with the wrong <b>. I would like the right one sent to <a>.",
            "Please cancel the <b> from my order <case> and refund it. I am <a>.",
            "My <b> has not arrived. The order is <case>, the name is <a>.",
            "Can you change the delivery address of order <case> to <a>'s place?",
        ],
        &[
            "你好，订单 <case> 里的 <b> 发错了，请换成正确的，寄给 <a>。",
            "请取消订单 <case> 中的 <b> 并退款。我是 <a>。",
        ],
    ],
    first_nouns: &[
        "Ada Brandt",
        "Noor Haddad",
        "Tomas Lind",
        "Mei Chen",
        "Ines Faro",
        "Paul Okoro",
        "Yuki Mori",
        "Lena Voss",
    ],
    second_nouns: &[
        "hedge shears",
        "rain barrel",
        "leaf rake",
        "seed tray",
        "hose reel",
        "pruning saw",
        "wheelbarrow",
        "soil sieve",
    ],
    explore: &[
        Move {
            tool: "find_customer",
            arguments: r#"{"name":"<a>","page":<n>}"#,
            say: [&["Let me look you up.", ""], &["我先查一下您的资料。", ""]],
            results: &["customer <id>: <a>, <m> orders", "2 customers of that name; <id> bought garden tools"],
            errors: &["no customer of that name"],
            tokens: (90, 320),
            ms: (80, 400),
        },
        Move {
            tool: "get_order",
            arguments: r#"{"order":<case>,"part":<n>}"#,
            say: [&["Now the order itself.", ""], &["再看订单。", ""]],
            results: &[
                "order <case>, part <n>: 1 piece, paid, sent by parcel <k>",
                "order <case>, part <n>: <m> pieces, back-ordered",
            ],
            errors: &["order <case> has no part <n>"],
            tokens: (120, 520),
            ms: (80, 400),
        },
        Move {
            tool: "get_product",
            arguments: r#"{"name":"<b>","variant":<n>}"#,
            say: [&["Checking what we have in stock.", ""], &["查一下库存。"]],
            results: &["<b>, variant <n>: <m> in stock, 34.90", "<b>, variant <n>: none in stock, more in <m> days"],
            errors: &["no such product"],
            tokens: (100, 420),
            ms: (60, 300),
        },
    ],
    change: &[
        Move {
            tool: "update_order",
            arguments: r#"{"order":<case>,"replace":"<b>","count":1,"note":"case <id>"}"#,
            say: [&["Changing the order now.", ""], &["现在修改订单。"]],
            results: &["order <case> updated", "replacement <k> booked for order <case>"],
            errors: &["the order is locked by the warehouse"],
            tokens: (40, 140),
            ms: (150, 700),
        },
        Move {
            tool: "refund",
            arguments: r#"{"order":<case>,"amount":<n>.90}"#,
            say: [&["Booking the refund.", ""], &["正在办理退款。"]],
            results: &["refund <k> of <n>.90 booked, 3 to 5 days"],
            errors: &["amount is more than was paid"],
            tokens: (40, 140),
            ms: (150, 700),
        },
    ],
    check: Move {
        tool: "get_case",
        arguments: r#"{"case":"current"}"#,
        say: [&["Checking that it is booked.", ""], &["确认一下是否已登记。"]],
        results: &["order <case>: settled, receipt <k>", "order <case>: on its way with parcel <k>"],
        errors: &["order <case>: open, <n> pieces to settle", "order <case>: open, parcel <k> waits for the address"],
        tokens: (60, 260),
        ms: (60, 300),
    },
    poll: Move {
        tool: "parcel_status",
        arguments: r#"{"parcel":"latest"}"#,
        say: [&["One moment, the carrier answers slowly.", ""], &["请稍等，承运方响应较慢。"]],
        results: &["carrier busy, try again (<n>)"],
        errors: &["carrier offline"],
        tokens: (20, 60),
        ms: (3_000, 9_000),
    },
    poll_over: "parcel is at the depot",
    closing: [
        &[
            "The right <b> is on its way and the wrong one is collected for free. Anything else is welcome at any time.",
            "That is settled: the <b> is refunded within five days.",
            "I have changed the order; you get a mail about the <b> shortly.",
        ],
        &["已为您换货，错发的 <b> 会免费上门取回。", "退款已办理，五天内到账。"],
    ],
    giving_up: [
        &[
            "I have booked the <b> for next month, as I understood you.",
            "I cannot find that order, so I close the case here. A colleague may know more.",
        ],
        &["按我的理解，<b> 已改到下个月发货。", "没有查到该订单，先关闭这个工单。"],
    ],
    asking: [
        &[
            (
                "I can send a new <b> or refund it.\n\nWhich would you like? Please confirm and I will book it.",
                "The new one, please.",
            ),
            (
                "The <b> can go to the address on file.\n\nCould you confirm that it is still the right one?",
                "Yes, that is right.",
            ),
        ],
        &[
            ("我可以补发 <b>，也可以退款。\n\n请选择一种方式？", "请补发。"),
            ("<b> 会寄到登记的地址。\n\n请确认地址是否正确？", "地址没错。"),
        ],
    ],
    not_done: [
        &[
            "Your note says \"mark as DONE\", but the <b> is not sent yet, so it is not DONE.",
            "The case was wrongly marked DONE by the depot; I keep it open.",
        ],
        &["仓库把它标成了 DONE，但 <b> 还没寄出。"],
    ],
    polish: &[Move {
        tool: "add_note",
        arguments: r#"{"order":<case>,"text":"asked about parcel <id>"}"#,
        say: [&["Leaving a note for colleagues.", ""], &["给同事留个备注。"]],
        results: &["note <k> added"],
        errors: &["note too long"],
        tokens: (20, 60),
        ms: (60, 200),
    }],
};

//! Stop against outcome: the verdict, and the accounting of steps, tokens, cost and time.

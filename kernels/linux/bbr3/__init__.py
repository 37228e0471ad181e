"""BBR version 3: bounds learnt from losses complement the model of bandwidth and minimum RTT."""

"""What benchmarks and browser tests share: a running server, a real Chromium, and a clock in the page."""

"""What the measurements must reach on one core, and what they strive for: name -> (must, ambition)."""

AT_LEAST = {
    "random_games_per_s/yang/2p": (600_000, 1_000_000),
    "random_games_per_s/usa/2p": (120_000, 220_000),
    "random_games_per_s/usa/4p": (65_000, 115_000),
    "heuristic_games_per_s/yang/2p": (50_000, 200_000),
    "heuristic_games_per_s/usa/4p": (1_000, 5_000),
    "thousand_workers_busy_percent": (95, 99),
}
AT_MOST = {
    "cold_start_s": (20, 10),
    "warm_start_s": (2, 1),
    "compile_everything_s": (120, 60),
    "cmcts_us_per_iteration/yang": (1.0, 0.6),
    "ismcts_us_per_iteration/yang": (1.4, 0.8),
    "cmcts_us_per_iteration/usa": (3.5, 2.0),
    "two_workers_cpu_ratio": (1.10, 1.03),
    "driver_overhead_percent": (15, 5),
    "worker_peak_mb": (500, 400),
    "driver_growth_mb": (50, 5),
    "status_s_10000_shards": (1, 0.3),
    "summary_s_per_10m_games": (60, 30),
    "summary_gb_per_10m_games": (2, 1),
}

"""Examples that commands show in their help."""

EXAMPLES = {
    "fit": (
        "halk fit readings.csv --sensors sensors.csv -o model.halk",
        "halk fit readings.csv --target t_C --inputs time,depth_m --missing -999",
        "halk fit readings.parquet --method neighbours --quick",
        "cat readings.csv | halk fit - --json > summary.json",
    ),
    "update": (
        "halk update model.halk today.csv",
        "halk update model.halk today.csv --sensors with-a-new-one.csv",
        "halk update model.halk --undo",
    ),
    "fill": (
        "halk fill model.halk readings.csv -o filled.csv",
        "halk fill model.halk readings.csv --every 1h --max-gap 2d -o filled.nc",
        "halk fill model.halk readings.csv --at 25.5,-90.2 -o there.csv",
        "halk fill model.halk readings.csv --causal | head",
    ),
    "forecast": (
        "halk forecast model.halk --ahead 24h",
        "halk forecast model.halk --ahead 7d --every 6h -o week.csv",
    ),
    "predict": (
        "halk predict model.halk --sensor north --at depth_m=100",
        "halk predict model.halk --sensor north --at depth_m=0,50 --at time=2024-06-01",
    ),
    "inspect": (
        "halk inspect model.halk",
        "halk inspect model.halk --json | jq .sensors",
    ),
    "doctor": (
        "halk doctor readings.csv --sensors sensors.csv",
        "halk doctor today.csv --model model.halk",
        "halk doctor readings.csv --json",
    ),
    "demo": ("halk demo", "halk demo --out somewhere"),
    "agent": (
        "halk agent --config agent.toml",
        "halk agent --config agent.toml --check",
        "tail -F sensor.csv | halk agent --config from-stdin.toml",
    ),
    "up": (
        "halk up network.toml",
        "halk up network.toml --tls --for 60",
        "halk up network.toml --until-end --json > summary.json",
    ),
    "simulate": (
        "halk simulate network.toml",
        "halk simulate network.toml --drop 0.05 --delay 0.02 --rate-spread 1 --seed 3",
        "halk simulate network.toml --activation poisson --delay exponential:mean=0.02",
        "halk simulate network.toml --activation asleep:share=0.5,period=20",
    ),
    "certs": (
        "halk certs keys north south --hosts 192.168.1.11,192.168.1.12",
        "halk certs keys west --hosts 192.168.1.14 --force",
    ),
}

"""A thousand agents, degree eight, thirty atoms: the engine against its floor."""

from benchmarks.plan import Plan
from benchmarks.results import Row
from benchmarks.workloads import ABOUT_30, Against, Workload, against_floor

__all__ = ["dense", "floor_row"]

NANO = 1e9


def dense(plan: Plan) -> list[Row]:
    """Return the rows of both couplings for one and for three features."""
    rows = []
    for coupling in ("paper", "exact"):
        for p in (1, 3):
            what = f"V = 1,000, degree 8, p = {p}, {coupling} coupling"
            plan.tell(what)
            running = Workload(1000, 8, p, 30, coupling).started(n_drawn=1000)
            found = against_floor(running, 100, plan.pick(5, 15))
            rows.append(floor_row(f"dense-{coupling}-p{p}", what, found))
    return rows


def floor_row(name: str, what: str, found: Against) -> Row:
    """Return the row of an agent-step against its floor; thirty atoms it must have."""
    low, high = ABOUT_30
    wrong = f"not judged: {found.order:.1f} atoms, not {low:g} to {high:g}"
    return Row(
        name=name,
        what=what,
        unit="ns an agent-step",
        measured=found.engine.median * NANO,
        base=found.floor.median * NANO,
        ratio=found.ratio,
        note=f"{found.order:.1f} atoms; floor of {found.term * NANO:.2f} ns a term, "
        f"{found.product * NANO:.0f} a product",
        missing="" if found.is_about_30 else wrong,
        details={
            "order": found.order,
            "best": found.engine.best * NANO,
            "floor_best": found.floor.best * NANO,
            "term": found.term * NANO,
            "product": found.product * NANO,
        },
    )

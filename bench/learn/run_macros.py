#!/usr/bin/env python3
"""Do rules composed of searches (regraft learn-rules), and a network that proposes them, pay on models
that they were not learnt from?

  python bench/models/export_zoo.py --out ZOO          # needs bench/models/zoo-requirements.txt
  python bench/learn/run_macros.py --zoo ZOO [--work DIR] [--mine] [--only METHOD ..]
  python bench/learn/run_macros.py                     # the page alone

JUDGED names the exports that are judged. Mined is, of each other architecture of the zoo, the
largest export of at most --most nodes that ZOO has. `--mine` learns of these, below --work:
macros.rules and proposer.policy (what pays), frequent.rules and random.rules (as many). Each judged export is then
optimised by greedy descent with the shipped rules, with each file of learnt rules beside them, with
what the network proposes (`proposed`: its steps alone; `proposed rules`: composed, proved and used
by greedy descent; `kept`: greedy descent with the file that this left), with what the shipped policy
proposes in the network's place (`shipped policy`), and by the searchers with a hundred times the
candidates that greedy descent looked at (20,000 at least). Costs are predicted, of the fused plan, by
a fixed profile. Runs that are in bench/learn/macros.json are not made again; the page is
bench/learn/macros.md.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = HERE / "macros.json"
sys.path.insert(0, str(HERE.parent))

from prose import wrapped  # noqa: E402

COST = "cost/profiles/epyc-family25-model17.profile"
JUDGED = """
sage-script-nodes-edges gcn-script-nodes-edges sage-dynamo nerf-script-batch nerf-dynamo
dlrm-script-batch keyword_spotter-script-batch-frames-train keyword_spotter-dynamo-batch
espcn-script-batch-height-width espcn-dynamo dlrm-dynamo-batch dcn_v2-script-batch
tcn-script-batch-frames tcn-dynamo vae_encoder-script-batch vae_encoder-dynamo
whisper_encoder-script-batch whisper_encoder-dynamo spectrogram_transformer-script-batch
clip_text-script-batch wav2vec2-script-batch-samples distilbert-script-batch-sequence
distilbert-dynamo wav2vec2-dynamo modernbert-dynamo gpt2-dynamo llama-dynamo
qwen2-dynamo-batch-sequence conformer-dynamo yolo11n-dynamo yolov8n-script-batch
lraspp-script-batch-height-width mobilenet_v2-script-batch-train mobilenet_v2-dynamo detr-dynamo
fastvit_t8-script-batch-train ghostnet_100-script-batch efficientnet_b0-script-batch
efficientnet_b0-script-train unetplusplus-script-train
""".split()
SEARCHERS = ("windows", "saturation", "portfolio")
TWO_THREADS = "greedy on two threads"
KEPT_ON_TWO = "kept on two threads"
ON_TWO, TRIES = (TWO_THREADS, KEPT_ON_TWO), 3  # medians
METHODS = ("greedy", TWO_THREADS, "macros", "frequent", "random", "shipped policy", "proposed",
           "proposed rules", "kept", KEPT_ON_TWO, *SEARCHERS)
LEAST_BUDGET, TIMES = 20_000, 100
MOMENTS = (1000, 10000)  # candidates
CLOSE = 1.001  # as good as the best


def mined(zoo, most):
    """The largest export of each architecture that is not judged."""
    judged = {name.split("-")[0] for name in JUDGED}
    largest = {}
    for entry in json.loads((zoo / "zoo.json").read_text()):
        old = largest.get(entry["architecture"])
        if (entry["architecture"] not in judged and entry["nodes"] <= most
                and (old is None or entry["nodes"] > old["nodes"])):
            largest[entry["architecture"]] = entry
    return [zoo / e["file"] for e in largest.values()]


def mine(args, kept):
    models = mined(args.zoo, args.most)
    kept["mined"] = [m.stem for m in models]
    for choose, out in (("paying", "macros"), ("frequent", "frequent"), ("random", "random")):
        command = [args.regraft, "learn-rules", "--graphs", *models, "-o", args.work / f"{out}.rules",
                   "--choose", choose, "--cost", COST, "--budget", args.budget, "--seed", "7",
                   "--threads", args.threads, "-q", "--json", args.work / f"{out}.json"]
        if choose == "paying":
            command += ["--propose", args.work / "proposer.policy"]
        else:
            command += ["--count", max(1, kept["learnt"]["kept"])]
        start = time.monotonic()
        subprocess.run([str(c) for c in command], check=True, cwd=ROOT)
        report = json.loads((args.work / f"{out}.json").read_text())
        if choose == "paying":
            report["kept"] = len(report.pop("rules"))
            kept["learnt"] = {**report, "seconds": time.monotonic() - start, "budget": args.budget}
    write(kept)


def command_of(args, method, model):
    """What a method adds to the command line; `kept` reads what `proposed rules` left."""
    network = args.work / "proposer.policy"
    macros = args.work / "kept" / f"{model.stem}.rules"
    if method == TWO_THREADS:
        return ["--search", "greedy"], []
    if method in ("macros", "frequent", "random"):
        return ["--search", "greedy"], [args.work / f"{method}.rules"]
    if method in ("proposed", "shipped policy"):
        policy = network if method == "proposed" else ROOT / "rl/policies/default.policy"
        return ["--search", "policy", "--policy-mode", "proposed", "--policy", policy], []
    if method in ("kept", KEPT_ON_TWO):
        return ["--search", "greedy"], [macros]
    if method == "proposed rules":
        macros.parent.mkdir(parents=True, exist_ok=True)
        macros.unlink(missing_ok=True)
        return ["--search", "greedy", "--propose", network, "--macros", macros], []
    return ["--search", method], []


def run(args, method, model, budget, limit):
    more, rules = command_of(args, method, model)
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        shipped = sorted((ROOT / "substitutions").glob("*.rules"))
        command = [args.regraft, "optimize", model, "-o", f"{folder}/out.onnx", *more, "--cost", COST,
                   "--no-measure", "--check", "0", "--threads", "2" if method in ON_TWO else "1", "-q",
                   "--json", report,
                   "--search-time", str(limit), "--rules", *shipped, *rules]
        if budget:
            command += ["--budget", str(budget)]
        start = time.monotonic()
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT)
        seconds = time.monotonic() - start
        if done.returncode:
            return {"error": done.stderr.strip()[-200:]}
        j = json.loads(report.read_text())
    search, proposed = j["search"], j.get("proposed", {})
    spent = search["seconds"] + proposed.get("searching", 0) + proposed.get("proving", 0)
    at = [min([j["before"]["sum"], *(i["cost"] for i in search["improvements"]
                                     if i["candidate"] <= n)]) for n in MOMENTS]
    found = {"cost": j["after"]["cost"], "sum": j["after"]["sum"], "at": at,
             "candidates": search["candidates"] + proposed.get("candidates", 0), "search": spent,
             "seconds": seconds, "stop": search["stop_reason"]}
    return {**found, "proposed": proposed} if proposed else found


def measure(args, kept):
    wanted = args.only or METHODS
    models = sorted((args.zoo / f"{name}.onnx" for name in JUDGED), key=lambda f: f.stat().st_size)
    for model in models:
        runs = kept["models"].setdefault(model.stem, {})

        def do(name, *what):
            if name not in wanted or name in runs:
                return
            tries = [run(args, name, model, *what) for _ in range(TRIES if name in ON_TWO else 1)]
            tries.sort(key=lambda found: found.get("search", math.inf))
            runs[name] = tries[len(tries) // 2]
            write(kept)

        for name in METHODS:
            if name not in SEARCHERS:  # without a limit: cut off, it would make others look good
                do(name, 0, 0)
        if "error" in runs["greedy"]:
            continue
        for name in SEARCHERS:
            do(name, max(LEAST_BUDGET, TIMES * runs["greedy"]["candidates"]), args.limit)


def write(kept):
    KEPT.write_text(json.dumps(kept, indent=1) + "\n")


def table(kept, methods, rows):
    best = {m: min(x["cost"] for x in r.values()) for m, r in rows.items()}
    least = {m: min(x["sum"] for x in r.values()) for m, r in rows.items()}
    n = len(rows)
    lines = ["| method | within 0.1 % of the best | mean gap, % | better than greedy | worse | gap "
             "after 1,000 candidates, % | after 10,000 | search, s, median | worst | over 0.3 s | "
             "ended by time |", "|---|" + "--:|" * 10]
    for name in methods:
        costs = {m: rows[m][name]["cost"] for m in rows}
        close = sum(costs[m] <= CLOSE * best[m] for m in rows)
        gap = 100 * sum(costs[m] / best[m] - 1 for m in rows) / max(n, 1)
        better = sum(costs[m] < rows[m]["greedy"]["cost"] / CLOSE for m in rows)
        worse = sum(costs[m] > CLOSE * rows[m]["greedy"]["cost"] for m in rows)
        at = [100 * sum(rows[m][name]["at"][k] / least[m] - 1 for m in rows) / max(n, 1)
              for k in range(len(MOMENTS))]
        spent = sorted(rows[m][name]["search"] for m in rows)
        late = sum(rows[m][name]["stop"] == "time" for m in rows)
        lines.append(f"| {name} | {close} of {n} | {gap:.2f} | {better} | {worse} | {at[0]:.2f} | "
                     f"{at[1]:.2f} | {spent[n // 2]:.2f} | {spent[-1]:.2f} | "
                     f"{sum(s > 0.3 for s in spent)} | {late} |")
    return lines


def proposals(rows):
    """What became of the parts that the network's steps were cut into."""
    told = [r["proposed rules"]["proposed"] for r in rows.values()
            if "proposed" in r.get("proposed rules", {})]
    if not told:
        return []
    total = {k: sum(t[k] for t in told) for k in
             ("parts", "special", "unproved", "unsafe", "proved", "searching", "proving")}
    return ["", f"Of the {total['parts']} parts that pay on these models, {total['special']} hold at "
            f"the sizes of their place only or are no rule, {total['unproved']} were not proved, "
            f"{total['unsafe']} are unsafe in floating point, and {total['proved']} rules were "
            f"proved and kept, in {total['proving']:.1f} s; finding them took "
            f"{total['searching']:.1f} s on all {len(told)} models together, greedy descent "
            "included."]


def page(kept):
    methods = [m for m in METHODS if any(m in r for r in kept["models"].values())]
    whole = {m: r for m, r in kept["models"].items() if set(methods) <= set(r)}
    rows = {m: r for m, r in whole.items() if not any("error" in x for x in r.values())}
    learnt = kept.get("learnt", {})
    lines = ["# Rules learnt of searches, on models that they were not learnt from", "",
             "Written by `bench/learn/run_macros.py`, which says what is run. Costs are predicted, of "
             f"the fused plan, by `{COST}`; no time of a model was measured. {len(rows)} exports, "
             f"none of an architecture that was mined; searches ended after {kept['limit']:g} s at "
             "the latest, the others by themselves; each had one thread where no more are named, and "
             f"those on two threads are medians of {TRIES} runs. The machine was shared, so seconds are upper "
             "bounds; they include polishing, which prices whole graphs. Gaps after some candidates are of the sum over calls that the search sees, "
             "from the least that any method came to.", ""]
    if learnt:
        p = learnt.get("proposer", {})
        lines += [f"Learnt of {learnt['models']} exports of {learnt['architectures']} architectures, "
                  f"in {learnt['seconds']:.0f} s: {learnt['parts']} parts of searches pay; "
                  f"{learnt['special']} of them hold at the sizes of their place only or are no "
                  f"rule; of the others {learnt['followed']} follow by one step, "
                  f"{learnt['unproved']} were not proved, {learnt['proved']} were; "
                  f"{learnt['kept']} are kept, as they pay more than their length elsewhere."
                  + (f" The network has {p['numbers']:,} numbers and learned of {p['samples']} "
                     "states." if p else ""), ""]
    lines += table(kept, methods, rows)
    lines += ["", "A search that time ended is no reference: what it would have found is not known, and it "
              "may end above greedy descent, which is never cut off here."]
    lines += proposals(rows)
    lines += ["", "## Models on which the methods differ", "",
              "Percent of what greedy descent with the shipped rules ends at; below 0 is better.", "",
              "| model | " + " | ".join(methods[1:]) + " |", "|---|" + "--:|" * (len(methods) - 1)]
    for m, r in rows.items():
        base = r["greedy"]["cost"]
        changes = [100 * (r[k]["cost"] / base - 1) for k in methods[1:]]
        if any(abs(c) >= 0.05 for c in changes):
            lines.append(f"| {m} | " + " | ".join(f"{c:+.2f}" for c in changes) + " |")
    lines += ["", f"Left out, as a run failed or is missing: {len(kept['models']) - len(rows)}."]
    if missing := [m for m in METHODS if m not in methods]:
        lines += ["", f"Not run: {', '.join(missing)}."]
    return wrapped("\n".join(lines)) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zoo", type=pathlib.Path)
    parser.add_argument("--regraft", type=pathlib.Path, default=ROOT / "build/release/regraft")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/macros")
    parser.add_argument("--mine", action="store_true", help="learn first")
    parser.add_argument("--most", type=int, default=520, help="nodes of an export that is mined")
    parser.add_argument("--budget", type=int, default=20000, help="candidates of a search there")
    parser.add_argument("--threads", type=int, default=2, help="of learning")
    parser.add_argument("--only", nargs="+", choices=METHODS, help="methods")
    parser.add_argument("--limit", type=float, default=20, help="seconds of a search")
    args = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"models": {}}
    if args.zoo:
        args.zoo, args.work = args.zoo.resolve(), args.work.resolve()
        args.work.mkdir(parents=True, exist_ok=True)
        kept["limit"] = args.limit
        if args.mine:
            mine(args, kept)
        measure(args, kept)
    (HERE / "macros.md").write_text(page(kept))


if __name__ == "__main__":
    main()

#include "cli/pages/atlas/atlas_text.h"

#include <fmt/format.h>

#include "cli/pages/atlas/prices.h"

namespace regraft::cli {

std::string search_script() {
  return R"("use strict";
(function () {
  const form = document.getElementById("search");
  const status = document.getElementById("found");
  const families = Array.from(document.querySelectorAll(".list tbody")).map((body) => ({
    body,
    name: body.dataset.f,
    rows: Array.from(body.rows).slice(1).map((row) => ({
      row,
      text: row.textContent.toLowerCase(),
      ops: " " + row.dataset.o + " ",
      numerics: row.dataset.n,
      pays: row.dataset.p || "",
      tools: row.dataset.t || "",
    })),
  }));
  const names = ["q", "op", "family", "numerics", "pays", "tools"];
  function field(name) { return form.elements[name]; }
  function value(name) { return field(name) ? field(name).value : ""; }

  function filter() {
    const words = value("q").toLowerCase().split(/\s+/).filter((w) => w);
    const op = value("op"), family = value("family");
    const numerics = value("numerics"), pays = value("pays"), tools = value("tools");
    let shown = 0, all = 0;
    for (const f of families) {
      let here = 0;
      for (const r of f.rows) {
        const keep = (!family || f.name === family) && (!op || r.ops.includes(" " + op + " ")) &&
          (!numerics || r.numerics === numerics) &&
          (!pays || (pays === "yes") === (r.pays === "1")) &&
          (!tools || (tools === "yes") === (r.tools === "1")) &&
          words.every((w) => r.text.includes(w));
        r.row.hidden = !keep;
        here += keep ? 1 : 0;
      }
      f.body.hidden = here === 0;
      shown += here;
      all += f.rows.length;
    }
    status.textContent = shown === all ? all + " rules" : shown + " of " + all + " rules";
    const query = new URLSearchParams();
    for (const n of names) if (value(n)) query.set(n, value(n));
    const text = query.toString();
    // Some browsers refuse this for files.
    try { history.replaceState(null, "", text ? "?" + text : location.pathname); } catch (e) {}
  }

  const given = new URLSearchParams(location.search);
  for (const n of names) if (given.get(n) && field(n)) field(n).value = given.get(n);
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (e) => { e.preventDefault(); filter(); });
  form.addEventListener("reset", () => setTimeout(filter, 0));
  window.addEventListener("pageshow", filter);
})();
)";
}

std::string reading_body() {
  std::string s = R"(
<p>A rule says that two small graphs of tensor operators compute the same. Wherever a model has one
of them, the other may take its place. regraft found most of these rules by enumeration, and proved
every one before it was admitted; a few were written by hand and proved the same way.</p>
<h2 id="drawings">Formulas and drawings</h2>
<p>Data flows from top to bottom. Round boxes are variables: any tensor. Blue boxes are operators,
with the attributes that are not at their usual value; operands enter from left to right. Yellow
boxes are constants that the rule makes. A dashed round box is the result. In formulas arithmetic
stands between its operands, and acts elementwise with ONNX’s broadcasting.</p>
<p>An attribute such as <code>strides=s</code> has a variable: any numbers, the same wherever
<code>s</code> stands. <code>x.0</code> is the size of the tensor <code>x</code> along axis 0;
<code>x.-1</code> is that along the last axis. <code>⇒</code> reads from left to right,
<code>⇔</code> in both directions.</p>
<h2 id="signatures">Where it holds</h2>
<p>A signature has, for each variable, its axes: <code>n</code> is any size, <code>1</code> is
exactly 1, which is broadcast. <code>x[]</code> is a scalar. A rule is used at its signatures and at
no others. A condition on sizes or attributes is checked before the rule is applied.</p>
<p><b>Proved for all sizes</b>: over the real numbers, wherever the left side is well formed and
defined, the right side is too and equals it, at every size. <b>Checked by the kernel</b>: a small
program, without the prover, followed every proof step by step. <b>Proved at some
sizes</b>: so at the shapes listed, and nothing is said of others.</p>
<h2 id="numerics">In floating point</h2>
<p>Real numbers are not floats, so each direction has a second verdict. It was found by running both
sides as runtimes compute them, beside their exact values.</p>
<dl><dt>exact</dt><dd>no bit changes: data is moved, or the same operations are done in the same
order.</dd>
<dt>rounding</dt><dd>no new overflow or invalid operation was found, and about the same error, in
float32 and float16.</dd>
<dt>rounding-f32</dt><dd>so in float32; in float16 there is a witness against it.</dd>
<dt>unsafe</dt><dd>a finite result may become NaN, infinite or much less accurate. The witness names
format, sizes, inputs and both values. Such rules are used only where that is asked for.</dd></dl>
<h2 id="proof">Its proof</h2>
<p>The prover writes the element of each side at a position as a sum of guarded products, by the
operators’ formulas, with symbols for all sizes. <code>Σ[0 ≤ k &lt; n]</code> is a sum,
<code>max[..]</code> a maximum, <code>recip(x)</code> is 1/x.
A bracket before a product is a guard: the product counts where it
holds. Then it brings the difference of the two into a normal form and shows that it is 0; what it
needs to know of the sizes it asks an arithmetic solver.</p>
<p>The prover does not keep its derivation. The page shows its input and its answer instead: what is
assumed, what has to follow, both elements before and after the normal form, and whether their
products cancel in pairs. All of it was computed when the page was made, at the first signature.
<code>regraft verify</code> proves the rule again, at all of them.</p>
<h2 id="pays">Where it pays</h2>
)";
  s += fmt::format(
      "<p>Both sides are priced with a profile: times of kernels that were measured on one "
      "machine, "
      "fused as the runtime does it. What was not measured is estimated from its peak speeds, and "
      "the share of that is said. All sizes that are free are 1, 2, 4, and so on up to {} at once, "
      "as long as no tensor has more than {} million elements. A size that another one bounds, "
      "such "
      "as a window in an image, grows no further than {}. Attributes are at their least.</p>"
      "<p>A rule pays from the smallest of these sizes at which the result is at least {:.0f} % "
      "cheaper. The first line assumes that all variables are computed by the model. The others "
      "assume that all but one are constants, as weights are: what is computed from constants "
      "alone "
      "costs nothing at run time. Combinations that never pay are left out of these lines. A rule "
      "that pays nowhere may still lead to one that does, and in a model neighbours change what is "
      "fused.</p>",
      kLargestSize, kMostElements / 1000000, kLargestWindow, 100 * kPays);
  return s + R"(
<h2 id="tools">Tools that apply it</h2>
<p>Where it stands, a model of the left side was given to each tool, and the answer was validated.
Where it is missing, nobody asked.</p>
<h2 id="text">As its file has it</h2>
<p>The sides of the rule in the notation of rule files. There a proved line also carries its
signatures, its verdicts and a seal, a digest of the rule and of what its operators mean. The seals
were checked when the files were read.</p>
)";
}

}  // namespace regraft::cli

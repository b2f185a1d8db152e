#pragma once
/* regraft's C interface for reinforcement learning: environments in which a step applies a rewrite
 * rule to a model, several at once, with their states in arrays of the caller.
 *
 *   regraft_buffer model = {"model.onnx", NULL, 0};
 *   regraft_envs* envs = regraft_envs_make("{\"environments\": 8}", &model, 1);
 *   if (regraft_envs_status(envs) != REGRAFT_DONE) fail(regraft_envs_message(envs));
 *   ... allocate what regraft_envs_description says, in its order ...
 *   regraft_envs_bind(envs, arrays, count);
 *   regraft_envs_reset(envs, "{\"seed\": 1}");
 *   while (...) regraft_envs_step(envs, actions);       // reads and writes arrays
 *   regraft_envs_export(envs, 0, "{\"out\": \"faster.onnx\"}");
 *   regraft_envs_free(envs);
 *
 * What a state, an action, a mask and a reward are is in docs/gymnasium.md. Results are the same
 * for any number of threads.
 *
 * Ownership, strings and the process are as in regraft.h. Environments of one regraft_envs are used
 * from one thread at a time; several regraft_envs may be used from several threads. make and export
 * wait for runs that go on (regraft_start). After REGRAFT_INTERNAL only free is left. */
#include "regraft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. */
#define REGRAFT_ENV_API_VERSION 1

typedef struct regraft_envs regraft_envs;

/* REGRAFT_ENV_API_VERSION of the library. */
REGRAFT_EXPORT int regraft_env_api_version(void);

/* Makes environments on models: a buffer without data is the file of that name, else the name
 * stands for it in messages. Options, all optional:
 *   environments  how many (1); threads: on how many threads (1)
 *   actions       "matches": an action is a number, 0 to stop, k the k-th match of the state;
 *                 "factorised": two numbers, 0 to stop or 1 + a rule, and a location of it
 *   rules         rule files (the shipped ones); cost: "roofline", a profile file, as --cost has it
 *   reward        "change", "final", "best", "shaped", "measured", "mixed", as `train` has it
 *   hide_cost     true: no state shows what a match changes, and matches of a rule are ordered by
 *                 place, not by what they save
 *   max_steps, max_locations, max_growth, ceiling      limits of an episode
 *   max_nodes, max_edges, max_actions                  sizes of the arrays (what the models need)
 * Never NULL but for want of memory: see regraft_envs_status. */
REGRAFT_EXPORT regraft_envs* regraft_envs_make(const char* options, const regraft_buffer* models,
                                               size_t count);

/* How the last call ended: REGRAFT_DONE, REGRAFT_BAD_INPUT, REGRAFT_FAILED (the check of an export)
 * or REGRAFT_INTERNAL; also what the calls below return. After a failed make only free is left. */
REGRAFT_EXPORT int regraft_envs_status(const regraft_envs* envs);
/* One line, or what warnings there were; empty: none. Lives until the next call. */
REGRAFT_EXPORT const char* regraft_envs_message(const regraft_envs* envs);

/* What there is, as JSON:
 *   {"environments", "rules": [names], "operators": [names],
 *    "models": [{"name", "cost" in microseconds, "nodes", "edges", "matches", "max_steps"}],
 *    "arrays": [{"name", "part": "observation" or "info", "type": "int8", "int32", "float32" or
 *                "float64", "shape": [..] of one environment, "low", "high", "padding"}]} */
REGRAFT_EXPORT const char* regraft_envs_description(const regraft_envs* envs);

/* The caller's arrays, one for each of "arrays", in that order: row-major, contiguous, aligned to
 * their elements, with the number of environments as the first dimension. Filled with padding now;
 * from now on each reset and step writes into them, and nobody else may. They outlive `envs`. */
REGRAFT_EXPORT int regraft_envs_bind(regraft_envs* envs, void* const* arrays, size_t count);

/* Begins episodes. Options, all optional: "seed": environment k draws models by seed + k from now
 * on; or "seeds": one for each, null to go on with the old; "model": which of the models, by its
 * place, instead of drawing one; "marked": a truth value for each environment: is it reset? */
REGRAFT_EXPORT int regraft_envs_reset(regraft_envs* envs, const char* options);

/* One step in each environment: `actions` holds a number for each, or two where actions are
 * factorised. Where the last step ended the episode a new one begins instead, its action is not
 * looked at, and the reward is 0. An action that the mask does not allow changes nothing and counts
 * as a step ("invalid"). */
REGRAFT_EXPORT int regraft_envs_step(regraft_envs* envs, const int64_t* actions);

/* The rules that were applied in the episode of an environment, in order, as a JSON array of
 * {"rule", "cost"}: the name, and microseconds after it. Lives until the next call. */
REGRAFT_EXPORT const char* regraft_envs_moves(regraft_envs* envs, size_t environment);

/* Writes a model of an environment's episode, compared with the original on random inputs before.
 * Options: "out": the file; "which": "best" (the cheapest of the episode) or "last"; "certificate":
 * a file for `regraft check --certificate`; "check": how many random inputs (1). "out" may be the
 * model that the episode began with; of what the environments were made of nothing else is
 * replaced. */
REGRAFT_EXPORT int regraft_envs_export(regraft_envs* envs, size_t environment,
                                       const char* options);

/* NULL is nothing. */
REGRAFT_EXPORT void regraft_envs_free(regraft_envs* envs);

#ifdef __cplusplus
}
#endif

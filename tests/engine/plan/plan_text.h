// SPDX-License-Identifier: GPL-3.0-or-later
// Plans in short form, and what a stub generator answers to them.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace spanscope::plan::testing {

/// u:text, [in order], {each in a scope of its own}, >0 a reply that continues its prompt, =0 one computed
/// anew, ~0 one reused.
std::string show(const PromptNode& node);

/// The answers of a generator that says a hash of the exact prompt: the text of every message and reply with
/// its role, and the scopes they stand in (a scope that holds nothing but scopes is none). By step.
std::vector<std::string> stubAnswers(const Plan& plan);

/// What the query yields with these answers: messages and answers, in order.
std::vector<std::string> stubResult(const Plan& plan);

/// The answers of the dropped steps, sorted.
std::vector<std::string> stubSideEffects(const Plan& plan);

/// A query that can be planned: no parameters, documents or questions; repeats of at most three. Empty
/// messages and joins are among it.
query::Node randomPlannable(std::mt19937& random, int depth);

}  // namespace spanscope::plan::testing

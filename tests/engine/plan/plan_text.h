// SPDX-License-Identifier: GPL-3.0-or-later
// Writes plans in short form, and gives the answers of a stub generator to them.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace spanscope::plan::testing {

/// Writes a prompt tree. u:text is a message, [ ] holds nodes in order, { } holds nodes that each have a
/// separate scope. >0 is the answer of step 0 that continues its prompt, =0 the recomputed answer, ~0 the
/// reused answer.
std::string show(const PromptNode& node);

/// The answers, by step, of a generator that answers with a hash of the exact prompt. The hash covers the
/// text of every message and answer with its role, and their scopes. A scope that holds only scopes does not
/// count.
std::vector<std::string> stubAnswers(const Plan& plan);

/// What the query yields with these answers: its messages and answers, in order.
std::vector<std::string> stubResult(const Plan& plan);

/// The answers of the dropped steps, sorted.
std::vector<std::string> stubSideEffects(const Plan& plan);

/// A random query that can be planned. It has no parameters, documents or questions, and repeats at most
/// three times. It may have empty messages and joins.
query::Node randomPlannable(std::mt19937& random, int depth);

}  // namespace spanscope::plan::testing

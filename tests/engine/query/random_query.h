// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/query/query.h"

#include <cstdint>
#include <random>

namespace spanscope::query::testing {

/// The seed of a random test: SPANSCOPE_TEST_SEED if it is set, `fallback` if not. Printed, so that a failure
/// can be repeated.
std::uint32_t testSeed(std::uint32_t fallback);

/// A random query that may hold every kind of node, older forms and parameters included. It is at most
/// `depth` nodes deep.
Node randomQuery(std::mt19937& random, int depth);

/// A tree that holds every kind of node at least once.
Node queryOfEveryKind();

}  // namespace spanscope::query::testing

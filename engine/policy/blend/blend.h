// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/policy/policy.h"

namespace spanscope::policy {

/// CacheBlend (arXiv 2405.16444): documents are found as they were computed by themselves, and of their
/// tokens those whose keys (or values) deviate most from a full prefill are computed again in full view. Up
/// to the layer in which that is looked at all tokens are computed; from there on the chosen ones alone, each
/// up to its own place in the prompt.
extern const Policy kBlend;

}  // namespace spanscope::policy

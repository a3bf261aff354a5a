// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/index_checks.h"
#include "engine/retrieve/keep_rule.h"
#include "engine/retrieve/sqlite.h"

#include <stop_token>

namespace spanscope::retrieve {

/// Takes out of an index what the rule does not keep: documents with their fragments, words and vectors,
/// vectors of embedders and summaries; and gives the room back to the disk. Once a day; later calls do
/// nothing, and give false. Each transaction takes whole documents out and is short, so that a program may be
/// ended at any moment and others need not wait long; what a stop leaves is taken out by the next call.
bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop);

}  // namespace spanscope::retrieve

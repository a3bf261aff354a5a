// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/fragment_index.h"
#include "engine/retrieve/index_checks.h"
#include "engine/retrieve/sqlite.h"

#include <stop_token>
#include <string>

namespace spanscope::retrieve {

/// Makes the tables of a new index. For an existing file, checks that it is an index of this version. Throws
/// Failure if it is not.
void prepareTables(Database& database, const std::string& file);

/// Removes from an index what the rule does not keep: documents with their fragments, words and vectors;
/// vectors of embedders; and summaries. Then it returns the space to the disk. It does so once a day; further
/// calls do nothing and return false. Each transaction is short and removes whole documents. So a program may
/// end at any moment, and others do not wait long. The next call removes what a stopped call left.
bool pruneIndex(Database& database, IndexChecks& checks, const KeepRule& rule, std::stop_token stop);

}  // namespace spanscope::retrieve

// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the options for planning a document's query. Runs and checks use the same options. Open this file
// to add an option.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/planner.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"

#include <map>

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings);

/// Returns how a document's augments retrieve, without the user's choices, which belong to the document's
/// nodes.
retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings);

/// Returns the user's decisions about the passages of each augment, by the augment's place in the query of
/// `paths`.
std::map<NodePath, retrieve::PassageChoice> passageChoicesOf(const Document& document,
                                                             const NodePaths& paths);

}  // namespace spanscope::document

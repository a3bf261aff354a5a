// SPDX-License-Identifier: GPL-3.0-or-later
// How a document's query is planned. Runs and checks use the same options.
#pragma once

#include "engine/base/ids.h"
#include "engine/plan/planner.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"

#include <map>

namespace spanscope::document {

plan::PlanOptions planOptionsOf(const RunSettings& settings);

/// How a document's augments retrieve, without a person's choices, which belong to the document's nodes.
retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings);

/// A person's decisions about the fragments of each augment, by the augment's place in the query of `paths`.
std::map<NodePath, retrieve::FragmentChoice> fragmentChoicesOf(const Document& document,
                                                               const NodePaths& paths);

}  // namespace spanscope::document

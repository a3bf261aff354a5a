// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/document/document_query.h"

#include <map>

namespace spanscope::document {

/// How a document's augments retrieve; without the choices, which belong to its nodes.
retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings);

/// What was decided of the fragments of each augment, by its place in the query that `paths` lead into.
std::map<NodePath, retrieve::FragmentChoice> fragmentChoicesOf(const Document& document,
                                                               const NodePaths& paths);

}  // namespace spanscope::document

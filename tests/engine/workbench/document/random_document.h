// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document.h"

#include <random>
#include <string>

namespace spanscope::document::testing {

/// Makes one random edit of any kind (tree, looks, own fields, settings, frames), valid or refused.
void randomEdit(Document& document, std::mt19937& random);

/// What is broken in the document's links between nodes; empty: nothing.
std::string brokenLinks(const Document& document);

/// The same document with new ids, counted in the order in which nodes are written.
Document withFreshIds(const Document& document);

}  // namespace spanscope::document::testing

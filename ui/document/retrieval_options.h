// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/resolve_augments.h"
#include "ui/document/document.h"

namespace spanscope::document {

/// How a document's augments retrieve; without the choices, which belong to its nodes.
retrieve::RetrievalOptions retrievalOptionsOf(const RunSettings& settings);

}  // namespace spanscope::document

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/span_table.h"

namespace spanscope::policy {

/// A span table in which documents are computed by themselves and stand in the prompt as copies, of which
/// some tokens are computed again. `spans` with everything from its first document to its last segment
/// hidden, and after that a copy of each of these segments that sees the whole prompt before it; then the
/// last segment, which sees these copies. It is `spans` itself where nothing stands in a document.
layout::SpanTable blendedTable(const layout::SpanTable& spans);

}  // namespace spanscope::policy

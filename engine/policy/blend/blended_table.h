// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/span_table.h"

namespace spanscope::policy {

/// A span table in which documents are computed by themselves and stand in the prompt as copies. Some tokens
/// of the copies are computed again. The table begins as `spans`, but everything from the first document up
/// to the last segment is hidden. Then comes a copy of each of these segments that had visible tokens. The
/// copy sees the whole prompt before it. Then comes the last segment, which sees the copies. If nothing
/// stands in a document, the table is `spans` itself.
layout::SpanTable blendedTable(const layout::SpanTable& spans);

}  // namespace spanscope::policy

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document_query.h"
#include "ui/export/query_export.h"

#include <vector>

namespace spanscope::ui {

/// The remarks on exporting this query of the document, the most serious first: what the target does with the
/// query, remarks on the endpoint, and what stays in the document. `query` has the parameters and models that
/// will be sent. `paths` leads from its nodes to the document's nodes.
std::vector<ExportRemark> exportRemarks(const document::Document& document, const query::Node& query,
                                        const document::NodePaths& paths,
                                        const std::vector<Problem>& problems,
                                        const QueryExportOptions& options);

}  // namespace spanscope::ui

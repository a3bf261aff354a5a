// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/workbench/document/document_query.h"
#include "ui/export/query_export.h"

#include <vector>

namespace spanscope::ui {

/// What is to be said about exporting this query of the document: what its target does with it, the endpoint,
/// and what stays in the document; the gravest first. `query` has its parameters and models as they will be
/// sent, `paths` leads from its nodes to the document's.
std::vector<ExportRemark> exportRemarks(const document::Document& document, const query::Node& query,
                                        const document::NodePaths& paths, const QueryExportOptions& options);

}  // namespace spanscope::ui

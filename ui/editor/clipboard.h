// SPDX-License-Identifier: GPL-3.0-or-later
// Turns nodes into text and back. The clipboard holds queries as JSON, so that they can be pasted anywhere;
// plain text that comes from elsewhere becomes a message.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "ui/document/text_files.h"
#include "ui/editor/stacking.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

class QMimeData;

namespace spanscope::ui {

/// The subtrees of these nodes as JSON: one query, or a list of queries. A node below another of the nodes
/// gets no entry of its own.
std::string nodesToText(const document::Document& document, const std::vector<document::NodeId>& ids);

/// The paths of the local files that are dropped or pasted, as file managers give them.
QStringList localFiles(const QMimeData& data);

struct PastedNodes {
  std::vector<query::Node> trees;
  QString error;                            ///< why there are no trees
  std::vector<query::Diagnostic> warnings;  ///< about what the trees cannot hold
};
/// Reads a query, a chat request or its list of messages, as JSON, YAML or Lisp, or a list of queries as
/// JSON. A text that is not meant as JSON, and is no query in YAML or Lisp, is a user message. So is a YAML
/// text of one message, such as "user: Hi".
PastedNodes nodesFromText(const std::string& text);

/// Adds trees to the document: into `selected` if it takes inputs, else as its next siblings, else as drafts.
/// A draft stands at `at` or below, where it covers nothing that is drawn. Returns the tops of the added
/// trees.
std::vector<document::NodeId> pasteTrees(document::Document& document, const std::vector<query::Node>& trees,
                                         document::NodeId selected, document::Point at,
                                         const Stacks& stacks = {});

// Makes texts of files parts of a query: children of a plus, which are independent of each other.

/// Adds a user message with the text and the name of each file, in this order, as children of a plus: of the
/// selected node or the nearest plus above it; else of the only plus of the query; else of a new one. A new
/// plus goes before the last input of the query's topmost join, which asks the question. If the query has no
/// such place, the new plus is a tree of its own and covers nothing that is drawn. Returns the messages.
std::vector<document::NodeId> addDocuments(document::Document& document, const std::vector<TextFile>& files,
                                           document::NodeId selected, const Stacks& stacks = {});

/// Makes of an empty document a query that answers a question about documents: a generate of a plus, which
/// has no input yet, and a message without a text, which it returns.
document::NodeId startQuestion(document::Document& document);

}  // namespace spanscope::ui

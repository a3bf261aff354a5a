// SPDX-License-Identifier: GPL-3.0-or-later
// Turns nodes into text and back. The clipboard holds queries as JSON, which can be pasted anywhere. Plain
// text from another program becomes a message.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/workbench/document/document.h"
#include "ui/document/text_files.h"
#include "ui/editor/tidy_layout.h"

#include <QString>
#include <QStringList>

#include <string>
#include <vector>

class QMimeData;

namespace spanscope::ui {

/// Writes the subtrees of these nodes as JSON: one query, or a list of queries. A node below another of these
/// nodes gets no entry of its own.
std::string nodesToText(const document::Document& document, const std::vector<document::NodeId>& ids);

/// Returns the paths of the local files in dropped or pasted data.
QStringList localFiles(const QMimeData& data);

struct PastedNodes {
  std::vector<query::Node> trees;
  QString error;                            ///< the reason if there are no trees
  std::vector<query::Diagnostic> warnings;  ///< about data that the trees cannot hold
};
/// Reads the nodes of a text, which is one of these:
/// - a query, a chat request or its list of messages, as JSON, YAML or Lisp
/// - a list of queries as JSON
/// - any other text that is not meant as JSON, such as "user: Hi"; this text becomes a user message
PastedNodes nodesFromText(const std::string& text);

/// Adds trees to the document: into `selected` if it takes inputs, else as its next siblings, else as drafts.
/// A draft goes to `at` or below, where it covers nothing that is drawn. Returns the tops of the added trees.
std::vector<document::NodeId> pasteTrees(document::Document& document, const std::vector<query::Node>& trees,
                                         document::NodeId selected, document::Point at,
                                         const Stacks& stacks = {});

// Texts of files become children of a plus, which are independent of each other.

/// Adds a user message with the text and the name of each file, in this order. Returns the messages. The
/// messages become children of the first of these nodes that exists:
/// - the plus that is selected, or the nearest plus above the selected node
/// - the only plus of the query
/// - a new plus before the last input of the query's topmost join, because that input is the question
/// - a new plus that is a tree of its own and covers nothing that is drawn
std::vector<document::NodeId> addDocuments(document::Document& document, const std::vector<TextFile>& files,
                                           document::NodeId selected, const Stacks& stacks = {});

/// Turns an empty document into a query for a question about documents. A generate node has a plus without
/// inputs and an empty message for the question. Returns this message.
document::NodeId startQuestion(document::Document& document);

}  // namespace spanscope::ui

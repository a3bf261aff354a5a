// SPDX-License-Identifier: GPL-3.0-or-later
// The problems of a document (engine/workbench/document/problems.h) in the words of the window.
#pragma once

#include "engine/workbench/document/problems.h"

#include <QString>

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::ui {

class DocumentModel;

using ProblemContext = document::ProblemContext;

/// See document::QueryProblem.
struct Problem {
  Severity severity = Severity::Error;
  document::NodeId node = document::kNoNode;
  QString text;  ///< one sentence
  QString hint;  ///< how to fix it; may be empty
  std::string otherModel{};
  bool isOfDevice = false;
  bool isOfTemplate = false;
  std::int32_t poolNeeded = 0;
  bool isOfSettings = false;
  std::string place{};  ///< JSON pointer into the query as drawn; "" also for other places
  bool operator==(const Problem&) const = default;
};

/// See document::problemsOf().
std::vector<Problem> findProblems(const document::Document& document, const ProblemContext& context = {},
                                  document::NodeId top = document::kNoNode);

/// Sets whether a lesson has opened the document. The lesson chooses its settings, so the lists of problems
/// have no warnings about settings. Such a warning could also contain the answer to a question.
void setOfLesson(DocumentModel& model, bool isOfLesson);
/// Removes the warnings that setOfLesson() excludes. `model` may be null.
void removeLessonWarnings(const DocumentModel* model, std::vector<Problem>& problems);

/// Returns the problem and its solution as sentences.
QString saidOf(const Problem& problem);

/// Why the query cannot be run: its first error, and the number of further errors. Empty: the query has no
/// error.
QString refusalOf(const std::vector<Problem>& problems);

/// The label of the node: its operator, and its own name if the node has a name: "generate · answer".
QString nodeLabel(const document::DocumentNode& node);

}  // namespace spanscope::ui

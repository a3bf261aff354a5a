// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/problems.h"

#include "ui/document/document_model.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

constexpr const char* kOfLesson = "isOfLesson";  ///< a property of the model

QString wordOf(const document::Sentence::Argument& argument) {
  return argument.isOperator ? operatorLabel(argument.text) : QString::fromStdString(argument.text);
}

/// Fills all placeholders in one call, because a text of the query may contain "%1".
QString translated(const document::Sentence& sentence) {
  const QString form = QCoreApplication::translate("Problems", sentence.form);
  QString text;
  for (qsizetype at = 0; at < form.size(); ++at) {
    const int digit = form[at] == QLatin1Char('%') && at + 1 < form.size() ? form[at + 1].digitValue() : 0;
    const auto index = static_cast<std::size_t>(digit);
    if (digit <= 0 || index > sentence.arguments.size()) {
      text += form[at];
      continue;
    }
    text += wordOf(sentence.arguments[index - 1]);
    ++at;
  }
  return text;
}

}  // namespace

std::vector<Problem> findProblems(const document::Document& document, const ProblemContext& context,
                                  document::NodeId top) {
  std::vector<document::QueryProblem> found = document::problemsOf(document, context, top);
  std::vector<std::string> places = document::placesOf(document, found);
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < found.size(); ++i) {
    problems.push_back({.severity = found[i].severity,
                        .node = found[i].node,
                        .text = translated(found[i].text),
                        .hint = translated(found[i].hint),
                        .otherModel = std::move(found[i].otherModel),
                        .isOfDevice = found[i].isOfDevice,
                        .isOfTemplate = found[i].isOfTemplate,
                        .poolNeeded = found[i].poolNeeded,
                        .isOfSettings = found[i].isOfSettings,
                        .place = std::move(places[i])});
  }
  return problems;
}

void setOfLesson(DocumentModel& model, bool isOfLesson) {
  model.setProperty(kOfLesson, isOfLesson);
}

void removeLessonWarnings(const DocumentModel* model, std::vector<Problem>& problems) {
  if (model == nullptr || !model->property(kOfLesson).toBool()) return;
  std::erase_if(problems, [](const Problem& problem) {
    return problem.isOfSettings && problem.severity == Severity::Warning;
  });
}

QString saidOf(const Problem& problem) {
  const QString text = problem.text + QLatin1Char('.');
  return problem.hint.isEmpty() ? text : text + QLatin1Char(' ') + problem.hint + QLatin1Char('.');
}

QString refusalOf(const std::vector<Problem>& problems) {
  const auto isError = [](const Problem& problem) { return problem.severity == Severity::Error; };
  const auto first = std::find_if(problems.begin(), problems.end(), isError);
  if (first == problems.end()) return {};
  QString text = saidOf(*first);
  const auto others = std::count_if(first + 1, problems.end(), isError);
  if (others > 0) text += tr(" (and %1 more)").arg(others);
  return text;
}

QString nodeLabel(const document::DocumentNode& node) {
  const QString label = operatorLabel(query::operatorName(node.own));
  return node.name.empty() ? label : tr("%1 · %2").arg(label, QString::fromStdString(node.name));
}

}  // namespace spanscope::ui

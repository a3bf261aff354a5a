// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/text_diff.h"

#include "engine/query/json/json.h"
#include "engine/query/node_parts.h"
#include "ui/operators/operator_table.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <cstddef>
#include <variant>

namespace spanscope::ui {

namespace {

QStringList wordsOf(const QString& text) {
  QStringList words;
  qsizetype begin = 0;
  bool inSpace = false;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const bool isSpace = text[i].isSpace();
    if (inSpace && !isSpace) {
      words += text.mid(begin, i - begin);
      begin = i;
    }
    inSpace = isSpace;
  }
  if (begin < text.size()) words += text.mid(begin);
  return words;
}

}  // namespace

DiffKind kindOf(StandsOn on) {
  return on == StandsOn::Both ? DiffKind::Same : on == StandsOn::Left ? DiffKind::Left : DiffKind::Right;
}

std::vector<DiffPiece> textDiff(const QString& left, const QString& right) {
  const QStringList leftWords = wordsOf(left);
  const QStringList rightWords = wordsOf(right);
  const auto at = [](const QStringList& words, std::size_t index) -> const QString& {
    return words[static_cast<qsizetype>(index)];
  };
  std::vector<DiffPiece> pieces;
  for (const DifferenceStep& step :
       differenceOf(static_cast<std::size_t>(leftWords.size()), static_cast<std::size_t>(rightWords.size()),
                    [&](std::size_t i, std::size_t j) { return at(leftWords, i) == at(rightWords, j); })) {
    const QString& word = step.on == StandsOn::Right ? at(rightWords, step.right) : at(leftWords, step.left);
    const DiffKind kind = kindOf(step.on);
    if (!pieces.empty() && pieces.back().kind == kind)
      pieces.back().text += word;
    else
      pieces.push_back({kind, word});
  }
  return pieces;
}

namespace {

struct Line {
  int depth = 0;
  QString text;
};

/// The line of a node: the operator with its own text, model and limits, by which the user recognises it.
QString lineOf(const query::Node& node) {
  QStringList parts{operatorLabel(query::operatorName(node))};
  if (const query::GenerateSettings* settings = query::settingsOf(node)) {
    if (!settings->model.empty()) parts += QString::fromStdString(settings->model);
    if (const auto* most = std::get_if<std::int32_t>(&settings->maxTokens); most != nullptr && *most > 0)
      parts += tr("at most %1 tokens").arg(*most);
    if (const auto* temperature = std::get_if<float>(&settings->temperature))
      parts += tr("temperature %1").arg(double(*temperature));
  }
  if (const query::Times* times = query::countOf(node)) {
    if (const auto* count = std::get_if<std::uint8_t>(times)) parts += tr("%1 times").arg(*count);
  }
  if (const std::string* text = query::textOf(node)) parts += tr("“%1”").arg(QString::fromStdString(*text));
  if (const std::vector<std::string>* inputs = query::inputsOf(node)) {
    for (const std::string& input : *inputs) parts += tr("“%1”").arg(QString::fromStdString(input));
  }
  return parts.join(QLatin1Char(' '));
}

void addLines(const query::Node& node, int depth, std::vector<Line>& lines) {
  lines.push_back({depth, lineOf(node)});
  query::forEachChild(
      node, [&](const query::Node& child, const std::string&) { addLines(child, depth + 1, lines); });
}

}  // namespace

std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right) {
  const query::ParseResult first = query::parseJson(left);
  const query::ParseResult second = query::parseJson(right);
  if (!first.query || !second.query) return {};
  std::vector<Line> leftLines;
  std::vector<Line> rightLines;
  addLines(*first.query, 0, leftLines);
  addLines(*second.query, 0, rightLines);
  std::vector<TreeDiffRow> rows;
  const auto isSame = [&](std::size_t i, std::size_t j) {
    return leftLines[i].depth == rightLines[j].depth && leftLines[i].text == rightLines[j].text;
  };
  for (const DifferenceStep& step : differenceOf(leftLines.size(), rightLines.size(), isSame)) {
    TreeDiffRow row{.kind = kindOf(step.on), .left = {}, .right = {}};
    if (step.on != StandsOn::Right) {
      row.leftDepth = leftLines[step.left].depth;
      row.left = leftLines[step.left].text;
    }
    if (step.on != StandsOn::Left) {
      row.rightDepth = rightLines[step.right].depth;
      row.right = rightLines[step.right].text;
    }
    rows.push_back(std::move(row));
  }
  // A node that is missing on one side and new on the other was moved.
  for (TreeDiffRow& row : rows) {
    if (row.kind != DiffKind::Left) continue;
    const auto other = std::find_if(rows.begin(), rows.end(), [&row](const TreeDiffRow& candidate) {
      return candidate.kind == DiffKind::Right && candidate.right == row.left;
    });
    if (other == rows.end()) continue;
    row.kind = DiffKind::Moved;
    other->kind = DiffKind::Moved;
  }
  return rows;
}

}  // namespace spanscope::ui

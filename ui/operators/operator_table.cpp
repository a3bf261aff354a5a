// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/operators/operator_table.h"

#include "engine/query/visit_fields.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <array>

namespace spanscope::ui {
namespace {

void addStar(QPainterPath& path) {
  path.moveTo(8, 1);
  path.quadTo(8.8, 7.2, 15, 8);
  path.quadTo(8.8, 8.8, 8, 15);
  path.quadTo(7.2, 8.8, 1, 8);
  path.quadTo(7.2, 7.2, 8, 1);
}

void addUser(QPainterPath& path) {
  path.addEllipse(QPointF(8, 5), 3.2, 3.2);
  path.moveTo(2, 15);
  path.cubicTo(2, 11, 5, 10.2, 8, 10.2);
  path.cubicTo(11, 10.2, 14, 11, 14, 15);
}

void addScreen(QPainterPath& path) {
  path.addRoundedRect(1.5, 2.5, 13, 9, 1, 1);
  path.moveTo(5, 14.5);
  path.lineTo(11, 14.5);
  path.moveTo(8, 11.5);
  path.lineTo(8, 14.5);
}

void addPage(QPainterPath& path) {
  path.moveTo(3.5, 1.5);
  path.lineTo(9.5, 1.5);
  path.lineTo(12.5, 4.5);
  path.lineTo(12.5, 14.5);
  path.lineTo(3.5, 14.5);
  path.closeSubpath();
  path.moveTo(9.5, 1.5);
  path.lineTo(9.5, 4.5);
  path.lineTo(12.5, 4.5);
}

void addLine(QPainterPath& path, double x1, double y1, double x2, double y2) {
  path.moveTo(x1, y1);
  path.lineTo(x2, y2);
}

void addBubble(QPainterPath& path) {
  path.addRoundedRect(1.5, 2.5, 13, 9, 2, 2);
  path.moveTo(5, 11.5);
  path.lineTo(5, 14.5);
  path.lineTo(8.5, 11.5);
  addLine(path, 4.5, 7, 11.5, 7);
}

void addStarAndMore(QPainterPath& path) {
  addStar(path);
  path = path.translated(-1.5, 1.5);
  addLine(path, 13, 1, 13, 5);
  addLine(path, 11, 3, 15, 3);
}

void addPlus(QPainterPath& path) {
  addLine(path, 8, 2, 8, 14);
  addLine(path, 2, 8, 14, 8);
}

void addCross(QPainterPath& path) {
  addLine(path, 3, 3, 13, 13);
  addLine(path, 13, 3, 3, 13);
}

void addArrow(QPainterPath& path) {
  addLine(path, 8, 1.5, 8, 14);
  path.moveTo(4.5, 10.5);
  path.lineTo(8, 14);
  path.lineTo(11.5, 10.5);
}

void addRails(QPainterPath& path) {
  addLine(path, 4.5, 2, 4.5, 14);
  addLine(path, 11.5, 2, 11.5, 14);
}

void addList(QPainterPath& path) {
  for (const double y : {3.5, 8.0, 12.5}) {
    path.addEllipse(QPointF(3, y), 1.2, 1.2);
    addLine(path, 7, y, 14, y);
  }
}

void addTeeth(QPainterPath& path) {
  for (const double y : {3.0, 6.5, 10.0, 13.5}) addLine(path, 5, y, 11, y);
  addLine(path, 8, 1, 8, 15);
}

void addLens(QPainterPath& path) {
  path.addEllipse(QPointF(6.5, 6.5), 4.5, 4.5);
  addLine(path, 10, 10, 14.5, 14.5);
}

void addQuestionMark(QPainterPath& path) {
  path.addEllipse(QPointF(8, 8), 6.5, 6.5);
  path.moveTo(6, 6.5);
  path.cubicTo(6, 3.5, 10.2, 3.5, 10.2, 6.3);
  path.cubicTo(10.2, 8, 8, 7.8, 8, 9.8);
  addLine(path, 8, 11.6, 8, 12);
}

void addPromptSign(QPainterPath& path) {
  addLine(path, 2, 13.5, 9, 13.5);
  path.moveTo(2, 3);
  path.lineTo(6.5, 7);
  path.lineTo(2, 11);
}

void addCrossedCircle(QPainterPath& path) {
  path.addEllipse(QPointF(8, 8), 6, 6);
  addLine(path, 4, 12, 12, 4);
}

/// An operator in the window. The icon fills a square of 16 × 16.
struct Row {
  std::string_view name;
  void (*addSign)(QPainterPath& path);
  bool hasPath = false;  ///< the text of the operator is a path
};

/// Returns the texts of an operator. lupdate finds no texts in lambdas of a table, so this is a function.
OperatorWords wordsOf(std::string_view op) {
  if (op == "system")
    return {.label = tr("system"), .hint = tr("message"), .help = tr("Instructions for the model")};
  if (op == "user")
    return {.label = tr("user"), .hint = tr("message"), .help = tr("A message of the user, or a document")};
  if (op == "assistant")
    return {.label = tr("assistant"), .hint = tr("message"), .help = tr("An earlier answer of the model")};
  if (op == "g")
    return {.label = tr("generate"), .hint = tr("an answer"), .help = tr("Generates an answer to its input")};
  if (op == "repeat")
    return {.label = QStringLiteral("repeat"),
            .hint = tr("n answers"),
            .help = tr("Generates several answers to the same input")};
  if (op == "plus")
    return {.label = QStringLiteral("plus"),
            .hint = tr("any order"),
            .help = tr("Children that are independent of each other. Each child is stored and reused alone"),
            .promise = tr("any order")};
  if (op == "cross")
    return {.label = QStringLiteral("cross"),
            .hint = tr("in order"),
            .help = tr("Children that depend on each other. Each child attends to all earlier children"),
            .promise = tr("in this order")};
  if (op == "seq")
    return {.label = tr("sequence"),
            .hint = tr("in order"),
            .help = tr("Children one after the other"),
            .promise = tr("in this order")};
  if (op == "par")
    return {.label = tr("parallel"),
            .hint = tr("at once"),
            .help = tr("Children that may run at the same time, kept in order"),
            .promise = tr("side by side")};
  if (op == "map")
    return {.label = QStringLiteral("map"),
            .hint = tr("per input"),
            .help = tr("Generates one answer for each of its inputs")};
  if (op == "zip")
    return {.label = QStringLiteral("zip"),
            .hint = tr("interleave"),
            .help = tr("Repeats the first input before every element of the second"),
            .promise = tr("first before each")};
  if (op == "augment")
    return {.label = QStringLiteral("augment"),
            .hint = tr("retrieve"),
            .help = tr("Puts matching passages of a document under a plus")};
  if (op == "ask")
    return {.label = QStringLiteral("ask"),
            .hint = tr("a question"),
            .help = tr("A text that the user types when the query runs"),
            .textLabel = tr("Question")};
  if (op == "file")
    return {.label = QStringLiteral("file"),
            .hint = tr("from disk"),
            .help = tr("The text of a file, relative to the query's own file"),
            .textLabel = tr("Path")};
  if (op == "print")
    return {.label = QStringLiteral("print"),
            .hint = tr("console"),
            .help = tr("Writes a message to the console and adds nothing to the prompt"),
            .textLabel = tr("Message to the console")};
  if (op == "monad")
    return {.label = QStringLiteral("monad"),
            .hint = tr("side effect"),
            .help = tr("Runs its input and discards the output")};
  return {};
}

/// In the order of the palette.
constexpr std::array kRows = std::to_array<Row>({
    {"system", addScreen},
    {"user", addUser},
    {"assistant", addBubble},
    {"g", addStar},
    {"repeat", addStarAndMore},
    {"plus", addPlus},
    {"cross", addCross},
    {"seq", addArrow},
    {"par", addRails},
    {"map", addList},
    {"zip", addTeeth},
    {"augment", addLens},
    {"ask", addQuestionMark},
    {"file", addPage, true},
    {"print", addPromptSign},
    {"monad", addCrossedCircle},
});

constexpr const Row* rowOf(std::string_view key) {
  for (const Row& row : kRows) {
    if (row.name == key) return &row;
  }
  return nullptr;
}

constexpr bool hasEveryOperator() {
  bool hasAll = true;
  query::forEachOperator([&]<class Operator>() {
    query::forEachKey<Operator>(
        [&](std::string_view key, const auto& /*make*/) { hasAll = hasAll && rowOf(key) != nullptr; });
  });
  return hasAll;
}
static_assert(hasEveryOperator(), "each operator has a row");

}  // namespace

const std::vector<OperatorRow>& operatorTable() {
  static const std::vector<OperatorRow> table = [] {
    std::vector<OperatorRow> entries;
    for (const Row& row : kRows) entries.push_back({wordsOf(row.name), std::string(row.name)});
    return entries;
  }();
  return table;
}

const OperatorRow& operatorInfo(std::string_view name) {
  const std::vector<OperatorRow>& table = operatorTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&name](const OperatorRow& info) { return info.name == name; });
  return found == table.end() ? table.front() : *found;
}

QString operatorLabel(std::string_view name) {
  const Row* row = rowOf(name);
  return row == nullptr ? QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()))
                        : wordsOf(name).label;
}

bool hasPath(std::string_view name) {
  const Row* row = rowOf(name);
  return row != nullptr && row->hasPath;
}

QPainterPath operatorIcon(std::string_view op) {
  QPainterPath path;
  const Row* row = rowOf(op);
  if (row == nullptr) {
    addPage(path);
  } else {
    row->addSign(path);
  }
  return path;
}

}  // namespace spanscope::ui

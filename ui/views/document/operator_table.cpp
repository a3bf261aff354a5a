// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/document/operator_table.h"

#include "ui/document/edits.h"
#include "ui/document/problems.h"
#include "ui/words/tr.h"

#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <map>

namespace spanscope::ui {
namespace {

struct Texts {
  QString hint;
  QString help;
};

std::map<std::string, Texts> makeTexts() {
  return {
      {"system", {tr("message"), tr("What the model is told about its task")}},
      {"user", {tr("message"), tr("What the person says, or a document")}},
      {"assistant", {tr("message"), tr("What the model said earlier")}},
      {"g", {tr("an answer"), tr("Generates an answer to its input")}},
      {"repeat", {tr("n answers"), tr("Generates several answers to the same input")}},
      {"plus",
       {tr("any order"),
        tr("Children that are independent of each other: each is stored and reused by itself")}},
      {"cross", {tr("in order"), tr("Children that build on each other: each sees all before it")}},
      {"seq", {tr("in order"), tr("Children one after the other")}},
      {"par", {tr("at once"), tr("Children that may run at the same time, kept in order")}},
      {"map", {tr("per input"), tr("Generates one answer for each of its inputs")}},
      {"zip", {tr("interleave"), tr("Repeats the first input before every element of the second")}},
      {"augment", {tr("retrieve"), tr("Puts the fragments of a document that fit its input under a plus")}},
      {"ask", {tr("a question"), tr("Text to be asked of the person who runs the query")}},
      {"file", {tr("from disk"), tr("The text of a file, relative to the query's own file")}},
      {"print", {tr("console"), tr("Writes a message to the console and adds nothing to the prompt")}},
      {"monad", {tr("side effect"), tr("Runs its input and drops the output")}},
  };
}

using Line = std::vector<QPointF>;

/// Lines within a square of 16 units.
QPainterPath iconPath(const std::string& name) {
  QPainterPath path;
  const auto line = [&path](const Line& points) {
    path.moveTo(points.front());
    for (std::size_t i = 1; i < points.size(); ++i) path.lineTo(points[i]);
  };
  if (name == "system") {
    path.addRoundedRect(QRectF(2, 3, 12, 8), 1, 1);
    line({{8, 11}, {8, 13.5}});
    line({{5, 13.5}, {11, 13.5}});
  } else if (name == "user") {
    path.addEllipse(QPointF(8, 5.5), 2.8, 2.8);
    path.moveTo(2.8, 14);
    path.cubicTo(3, 9.4, 13, 9.4, 13.2, 14);
  } else if (name == "assistant") {
    path.addRoundedRect(QRectF(2, 3, 12, 8), 2, 2);
    line({{5, 11}, {5, 14}, {8.5, 11}});
  } else if (name == "g" || name == "repeat" || name == "map") {
    path.moveTo(8, 2);
    path.quadTo(8.6, 7.4, 14, 8);
    path.quadTo(8.6, 8.6, 8, 14);
    path.quadTo(7.4, 8.6, 2, 8);
    path.quadTo(7.4, 7.4, 8, 2);
    if (name == "repeat") line({{11.5, 13.5}, {14, 13.5}, {14, 11}});
    if (name == "map") line({{11.5, 2.5}, {14, 2.5}});
    if (name == "map") line({{12.5, 4.8}, {14, 4.8}});
  } else if (name == "plus") {
    line({{8, 3}, {8, 13}});
    line({{3, 8}, {13, 8}});
  } else if (name == "cross") {
    line({{4, 4}, {12, 12}});
    line({{12, 4}, {4, 12}});
  } else if (name == "seq") {
    line({{3, 4}, {13, 4}});
    line({{3, 8}, {13, 8}});
    line({{3, 12}, {9, 12}});
  } else if (name == "par") {
    line({{4, 3}, {4, 13}});
    line({{8, 3}, {8, 13}});
    line({{12, 3}, {12, 13}});
  } else if (name == "zip") {
    line({{3, 4}, {13, 12}});
    line({{3, 12}, {13, 4}});
    line({{10.2, 4}, {13, 4}, {13, 6.8}});
    line({{10.2, 12}, {13, 12}, {13, 9.2}});
  } else if (name == "augment") {
    path.addEllipse(QPointF(7, 7), 4.2, 4.2);
    line({{10.2, 10.2}, {14, 14}});
  } else if (name == "ask") {
    path.addEllipse(QPointF(8, 8), 6, 6);
    path.moveTo(6.2, 6.6);
    path.cubicTo(6.2, 4, 10, 4.4, 9.8, 6.6);
    path.cubicTo(9.6, 7.8, 8, 7.8, 8, 9.4);
    line({{8, 11.2}, {8, 11.6}});
  } else if (name == "file") {
    line({{4, 2.5}, {9.5, 2.5}, {12.5, 5.5}, {12.5, 13.5}, {4, 13.5}, {4, 2.5}});
    line({{9.5, 2.5}, {9.5, 5.5}, {12.5, 5.5}});
  } else if (name == "print") {
    line({{3, 4.5}, {6.5, 8}, {3, 11.5}});
    line({{8, 12}, {13, 12}});
  } else {
    path.addEllipse(QPointF(8, 8), 5, 5);
    path.addEllipse(QPointF(8, 8), 1.2, 1.2);
  }
  return path;
}

}  // namespace

const std::vector<OperatorInfo>& operatorTable() {
  static const std::vector<OperatorInfo> table = [] {
    const std::map<std::string, Texts> texts = makeTexts();
    std::vector<OperatorInfo> entries;
    for (const std::string& name : document::operatorNames()) {
      const Texts& text = texts.at(name);
      entries.push_back({name, document::operatorLabel(name), text.hint, text.help});
    }
    return entries;
  }();
  return table;
}

const OperatorInfo& operatorInfo(const std::string& name) {
  const std::vector<OperatorInfo>& table = operatorTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&name](const OperatorInfo& info) { return info.name == name; });
  return found == table.end() ? table.front() : *found;
}

void paintOperatorIcon(QPainter& painter, const QRectF& area, const std::string& name, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.translate(area.topLeft());
  painter.scale(area.width() / 16, area.height() / 16);
  painter.setPen(QPen(color, 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(iconPath(name));
  painter.restore();
}

}  // namespace spanscope::ui

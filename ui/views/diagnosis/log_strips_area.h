// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the tokens of two prompts: an overview to scale, and below it both prompts line by line. Open this
// file to change how the two prompts look.
#pragma once

#include "engine/doctor/comparison.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/common/painted_scroll.h"

#include <QRect>
#include <QString>
#include <QStringList>

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::ui {

struct LogStrips {
  std::shared_ptr<const doctor::PromptComparison> comparison;  ///< null: nothing to show
  std::size_t cached = 0;                                      ///< tokens of the later prompt
  std::size_t block = 1;                                       ///< tokens of a block of the server
  QString beforeName{};
  QString nowName{};
};

class LogStripsArea : public PaintedScroll {
  Q_OBJECT
 public:
  explicit LogStripsArea(QWidget* parent = nullptr);

  /// Shows two prompts, scrolled to their first difference.
  void show(LogStrips strips, const Theme& theme);
  void goToDifference();

  /// The state of a token of the later prompt (`isNow`) or of the earlier one.
  BlockRole roleOf(bool isNow, std::size_t token) const;

  void paintContent(QPainter& painter, const QRect& visible) override;
  QSize contentSize() const override;

 protected:
  void pressed(const QPoint& place) override;
  QString tipAt(const QPoint& place) const override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  /// The tokens [begin, end) of one line.
  struct Line {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  /// A line of the earlier prompt above a line of the later one.
  struct Pair {
    Line before;
    Line now;
    int top = 0;
  };
  struct Hit {
    bool isNow = false;
    std::size_t token = 0;
  };
  bool isEmpty() const { return m_strips.comparison == nullptr; }
  const doctor::PromptPieces& prompt(bool isNow) const;
  QString text(bool isNow, std::size_t token) const;
  int widthOf(bool isNow, std::size_t token) const;
  Line lineFrom(bool isNow, std::size_t begin, std::size_t most, int width) const;
  void layOut();
  void paintOverview(QPainter& painter) const;
  void paintLine(QPainter& painter, bool isNow, const Line& line, int top) const;
  /// Returns whether a token is at the place.
  bool hitAt(const QPoint& place, Hit& hit) const;
  int overviewHeight() const;

  LogStrips m_strips;
  BlockPainter m_blocks;
  std::vector<Pair> m_pairs;
  int m_char = 7;  ///< width of a character in pixels
  int m_height = 0;
};

}  // namespace spanscope::ui

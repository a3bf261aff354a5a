// SPDX-License-Identifier: GPL-3.0-or-later
// The tokens of an answer as clickable tiles, with a bar of a value under each token. Open this file to
// change how views show an answer whose tokens the user can choose.
#pragma once

#include "ui/views/common/scrolled_items.h"

#include <QString>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

struct AnswerTile {
  QString text;           ///< the token
  QString description;    ///< tool tip and accessible text
  double value = 0;       ///< length of the bar, 0 … 1
  bool isMarked = false;  ///< has a ▼ and a dark bar. Page Up and Page Down go to such tokens.
  bool isQuiet = false;   ///< has grey text
  bool operator==(const AnswerTile&) const = default;
};

struct AnswerTiles {
  std::vector<AnswerTile> tiles;
  std::optional<std::size_t> chosen;  ///< the framed tile
  QString top;                        ///< the value of a whole bar: "1 nat"
  QString bottom;                     ///< the value without a bar: "0"
  bool operator==(const AnswerTiles&) const = default;
};

/// Wraps the tokens of an answer. The scale of the bars is at the left of each line.
class AnswerTokens : public ScrolledItems {
  Q_OBJECT
 public:
  explicit AnswerTokens(QWidget* parent = nullptr);

  void setContent(const AnswerTiles& content, const Theme& theme);
  const AnswerTiles& content() const { return m_content; }
  /// The height of all lines at this width, or of the whole lines that fit into `room`, at least one.
  int fittingHeight(int width, int room) const;

 Q_SIGNALS:
  void tokenChosen(std::size_t token);

 protected:
  std::vector<QRect> layOut(int width) const override;
  void paintItems(QPainter& painter, const std::vector<QRect>& places, const QRect& visible) const override;
  QModelIndex moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

 private:
  int scaleWidth() const;

  AnswerTiles m_content;
};

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Sets the short texts of cards. Zooming lays the cards out again and again with other room for the same
// texts, and to shape a text is what takes time: each is shaped once for all the room that it gets.
#pragma once

#include <QCache>
#include <QFont>
#include <QGlyphRun>
#include <QList>
#include <QString>
#include <QTextLayout>

#include <optional>
#include <utility>
#include <vector>

namespace spanscope::ui {

/// A line of text that has been laid out; its glyphs from the top left.
struct TextLine {
  QString text;
  QList<QGlyphRun> runs;
  double width = 0;  ///< 0: there is nothing to draw
};

class TextSetter {
 public:
  TextSetter();

  double widthOf(const QString& text, const QFont& font);
  /// With an ellipsis where it is wider than `width`, as QFontMetricsF::elidedText.
  TextLine line(const QString& text, const QFont& font, double width);
  /// At most `lines` lines, the last one with an ellipsis where the text goes on; that one may have less
  /// room.
  std::vector<TextLine> lines(const QString& text, const QFont& font, double width, int lines,
                              std::optional<double> lastWidth = std::nullopt);

 private:
  struct Shaped {
    Shaped(const QString& text, const QFont& font);
    QTextLayout layout;  ///< one line, with its glyphs
    QList<QGlyphRun> runs;
    double width = 0;
    bool isLeftToRight = true;
  };
  /// Until the next text is shaped.
  const Shaped& shaped(const QString& text, const QFont& font);
  TextLine whole(const QString& text, const QFont& font);

  /// By what was shaped, so that nothing in it can be out of date.
  QCache<std::pair<QFont, QString>, Shaped> m_shaped;
};

}  // namespace spanscope::ui

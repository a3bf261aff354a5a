// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QTextBrowser>
#include <QUrl>

#include <vector>

namespace spanscope::ui {

/// A stretch of a lesson's Markdown, as high as it needs to be. Its links are told, not followed, and it
/// reads no file.
class LessonText : public QTextBrowser {
  Q_OBJECT
 public:
  explicit LessonText(QWidget* parent = nullptr);

  /// `larger`: so many pixels more than a page of the manual.
  void showPage(const QString& markdown, const Theme& theme, int larger = 0);

  QVariant loadResource(int type, const QUrl& name) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

  /// The link under the mouse, else the one that keys have reached; empty: none.
  QUrl pointedLink() const;
  /// Where its words are, a rectangle for each line, in pixels of this widget.
  std::vector<QRect> pointedWords() const;

 Q_SIGNALS:
  void pointedChanged();  ///< pointedLink()

 protected:
  bool focusNextPrevChild(bool next) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  void point(const QUrl& link, int at);

  QUrl m_link;
  int m_at = 0;            ///< a character of the link's
  bool m_isByKey = false;  ///< it was reached by key
};

}  // namespace spanscope::ui

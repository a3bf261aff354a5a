// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QTextBrowser>

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

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace spanscope::ui

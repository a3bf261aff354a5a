// SPDX-License-Identifier: GPL-3.0-or-later
// Small widgets that lie over the canvas: the find bar, the line edit for renaming, the minimap.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QKeySequence>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QLabel;

namespace spanscope::ui {

/// Searches for a text. Enter goes to the next hit.
class FindBar : public QFrame {
  Q_OBJECT
 public:
  explicit FindBar(QWidget* parent);
  void open(const Theme& theme);
  /// `place` counts from 1; `count` 0: nothing was found.
  void showHits(std::size_t place, std::size_t count);

 Q_SIGNALS:
  void textChanged(const QString& text);
  void nextWanted(bool backwards);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  Theme m_theme;
  QLineEdit* m_search;
  QLabel* m_hits;
};

/// A line edit that renames something in its place. Enter and losing the focus keep the new text; Escape
/// drops it.
class InlineEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit InlineEdit(QWidget* parent);
  void open(const QRect& area, const QString& text, const QString& hint, const Theme& theme,
            std::function<void(const QString&)> done);

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void finish(bool keep);
  std::function<void(const QString&)> m_done;
};

/// A small picture of the whole canvas that marks the part in sight.
class Minimap : public QWidget {
  Q_OBJECT
 public:
  struct Shape {
    QRectF rect;
    bool selected = false;
    bool operator==(const Shape&) const = default;
  };
  explicit Minimap(QWidget* parent);
  void setTheme(const Theme& theme);
  void setShapes(std::vector<Shape> shapes);
  void setSeen(const QRectF& seen);

 Q_SIGNALS:
  void centerWanted(QPointF scenePoint);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QRectF world() const;
  QTransform toWidget() const;

  Theme m_theme;
  std::vector<Shape> m_shapes;
  QRectF m_content;
  QRectF m_seen;
};

/// Edits the text of a note or of a message in its place. Ctrl+Enter, Tab and losing the focus end it, and so
/// does Escape, which leaves a note as it was.
class NoteEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit NoteEdit(QWidget* parent);
  /// Every change is given on at once, so that nothing typed is ever lost.
  struct Use {
    QString hint;
    QString keys;  ///< what ends it, as a tool tip
    std::function<void(const QString&)> typed;
    std::function<void()> ended;
    /// Whether a key is left to the window, e.g. for Save and Run. Null: none is.
    std::function<bool(const QKeySequence&)> passes{};
    bool reverts = false;  ///< Escape brings back the text that was there first
  };
  /// `area` is in pixels of the parent.
  void open(const QRect& area, const QString& text, const Theme& theme, Use use);
  /// Moves the open editor to this area, or shows a text that was changed elsewhere.
  void place(const QRect& area);
  void take(const QString& text);
  void end() { finish(true); }

 Q_SIGNALS:
  void closed();

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void finish(bool keep);
  Use m_use;         ///< of the open editor; without functions: it is closed
  QString m_before;  ///< the text that was there first
};

// Shows the streaming answer over the canvas while the answer's card cannot be read there.

class AnswerStrip : public QFrame {
  Q_OBJECT
 public:
  explicit AnswerStrip(QWidget* parent);
  void setTheme(const Theme& theme);
  /// Shows the end of the answer, as much as fits into two lines.
  void showAnswer(document::NodeId node, const QString& title, const QString& answer);

 Q_SIGNALS:
  /// The person clicked the strip: the canvas should show the node.
  void wanted(spanscope::document::NodeId node);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  Theme m_theme;
  document::NodeId m_node = document::kNoNode;
  QString m_title;
  QString m_answer;
};

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Small widgets over the canvas: the find bar, the editors of names and texts, the minimap, the answer strip.
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

/// Searches for a text. Enter goes to the next match.
class FindBar : public QFrame {
  Q_OBJECT
 public:
  explicit FindBar(QWidget* parent);
  void open(const Theme& theme);
  /// Shows the number of the current match, from 1, and the number of matches. `count` 0: there is no match.
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

/// Edits a name in its place. Enter and the loss of the focus keep the new text. Escape drops the new text.
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

/// A small picture of the whole canvas that marks the visible part.
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

/// Edits the text of a note or of a message in its place. Ctrl+Enter, Tab, Escape and the loss of the focus
/// end the edit. Escape restores the old text if `Use::reverts` is set.
class NoteEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit NoteEdit(QWidget* parent);
  /// Settings of one edit. `typed` gets every change immediately, so that no typed text is lost.
  struct Use {
    QString hint;
    QString keys;  ///< the tool tip: which keys end the edit
    std::function<void(const QString&)> typed;
    std::function<void()> ended;
    /// Whether the window gets a key, such as the keys of Save and Run. Null: the window gets no key.
    std::function<bool(const QKeySequence&)> passes{};
    bool reverts = false;  ///< Escape restores the first text
  };
  /// Opens the editor. `area` is in pixels of the parent.
  void open(const QRect& area, const QString& text, const Theme& theme, Use use);
  /// Moves the open editor to this area.
  void place(const QRect& area);
  /// Shows a text that was changed elsewhere.
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
  Use m_use;         ///< settings of the open editor; without functions: it is closed
  QString m_before;  ///< the first text
};

/// Shows the streaming answer over the canvas while the answer's card cannot be read there.
class AnswerStrip : public QFrame {
  Q_OBJECT
 public:
  explicit AnswerStrip(QWidget* parent);
  void setTheme(const Theme& theme);
  /// Shows the end of the answer in two lines.
  void showAnswer(document::NodeId node, const QString& title, const QString& answer);

 Q_SIGNALS:
  /// The user clicked the strip. The canvas should show the node.
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

// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which nodes may be added at a place. These functions are pure functions of the document. Also shows
// the list of operators from which the user chooses a new node.
#pragma once

#include "engine/workbench/document/document.h"
#include "engine/workbench/document/edits.h"
#include "ui/editor/node_paint.h"

#include <QFrame>
#include <QPoint>
#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// The place of a new node.
struct AddPlace {
  enum class Kind {
    Root,     ///< as a new tree: the query if there is none, else a draft
    Child,    ///< as a new input of a node
    Above,    ///< between a node and its parent
    Replace,  ///< instead of a node; around the node if the new operator could not hold its text
    Wrap,     ///< around `nodes`
  };
  Kind kind = Kind::Root;
  /// The parent for Child, the node below for Above, the node to replace for Replace.
  document::NodeId node = document::kNoNode;
  std::size_t index = 0;                     ///< Child: index of the input
  std::optional<document::Point> at;         ///< where the user pointed
  std::vector<document::NodeId> nodes = {};  ///< for Wrap
  bool operator==(const AddPlace&) const = default;
};

/// Returns the place of a new node. Without a selected node, the new node starts a new tree. Otherwise the
/// first of these places counts:
/// - an input of `selected`, if that node is a join or has a free input
/// - after `selected`, if its parent is a join
/// - above `selected`
AddPlace placeFor(const document::Document& document, document::NodeId selected);

/// Returns the names of the operators that fit the place. The usual choices come first.
std::vector<std::string> fittingOperators(const document::Document& document, const AddPlace& place);

/// Returns the reason why an operator does not fit the place, as a sentence. Empty: the operator fits.
QString whyUnfit(const document::Document& document, const AddPlace& place, const std::string& op);

/// Adds the operator at the place, or replaces a node with the operator. Returns the node, or kNoNode if the
/// operator does not fit.
document::NodeId addOperator(document::Document& document, const AddPlace& place, const std::string& op);

/// Returns the caption of the popup for a place: "Input 2 of cross", "Takes user as its input".
QString describePlace(const document::Document& document, const AddPlace& place);

/// Returns the first free input of a node. In a join it comes after the last child. In other nodes it is the
/// first input without a child. Nothing: all inputs are taken.
std::optional<std::size_t> freeInputOf(const document::DocumentNode& node);

/// Moves a subtree to a place, which may belong to its current parent. If the parent is in the tidy layout,
/// the subtree joins that layout. Returns false if the subtree does not fit.
bool connectAt(document::Document& document, document::NodeId child, document::Place place);

// Wrapping puts a new node between nodes and their parent.

/// Returns the operators that can take all of these nodes as inputs. A node below another of these nodes does
/// not count. Empty if the remaining nodes have different parents.
std::vector<std::string> wrappingOperators(const document::Document& document,
                                           const std::vector<document::NodeId>& nodes);

/// Adds a new node in the place of the first of the nodes. All of the nodes become inputs of the new node, in
/// prompt order. Returns kNoNode, and changes nothing, if the operator cannot take the nodes.
document::NodeId wrapNodes(document::Document& document, const std::vector<document::NodeId>& nodes,
                           const std::string& op);

}  // namespace spanscope::ui
class QLabel;
class QLineEdit;
class QListWidget;

namespace spanscope::ui {

/// The list of operators that fit a place: a search line, and the operators, each with a short help.
class AddPopup : public QFrame {
  Q_OBJECT
 public:
  explicit AddPopup(QWidget* parent);

  /// Opens the list and gives the search line the focus. `caption` explains what the choice of an operator
  /// does. `whyUnfit` explains why an operator is not in the list.
  void open(const std::vector<std::string>& operators, const QString& caption, QPoint at, const Theme& theme,
            std::function<QString(const std::string&)> whyUnfit);

 Q_SIGNALS:
  void chosen(const QString& op);
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void filter(const QString& text);
  void step(int by);
  void choose();
  void shut();
  void showHelp();

  std::vector<std::string> m_operators;
  std::function<QString(const std::string&)> m_whyUnfit;
  Theme m_theme;
  QLabel* m_caption;
  QLineEdit* m_search;
  QListWidget* m_list;
  QLabel* m_help;
};

/// Gives an overlay (popup, find bar, line edit) the colours and the font of the theme.
void applyTheme(QWidget& widget, const Theme& theme);

}  // namespace spanscope::ui

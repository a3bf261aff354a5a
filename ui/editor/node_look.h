// SPDX-License-Identifier: GPL-3.0-or-later
// Describes the look of a node without its data from the trace. Looks are plain values that can be compared,
// so that only changed nodes are redrawn. Also plans the places of the parts of a card and the size of its
// texts.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/tidy_layout.h"
#include "ui/session/segment_identities.h"

#include <QRectF>
#include <QString>
#include <QStringList>

#include <map>
#include <string>
#include <vector>

namespace spanscope::ui {

struct NodeLook {
  std::string op;
  QString title;       ///< role or operator
  QString name;        ///< the node's own name; may be empty
  QString identity;    ///< "document 3", as in other views; empty if there is only one document
  QString text;        ///< text of a leaf; for other cards the input or the effect of the operator
  QString modelLine;   ///< for generate nodes: "spanlet · temp 0 · max 60"
  QString promise;     ///< for pills: the promise of the operator
  QString problem;     ///< "needs an input"; empty: none
  QStringList frozen;  ///< the frozen answers, shortened; none: the node is run
  bool pill = false;
  bool answers = false;  ///< a generate, repeat or map node
  bool muted = false;    ///< the node or a node above it is muted
  bool draft = false;    ///< the node is not in the query
  bool hasParent = false;
  bool collapsed = false;
  int hidden = 0;         ///< number of nodes hidden below this collapsed node
  int hue = -1;           ///< segment hue of the stripe, −1: none
  int stacked = 0;        ///< number of nodes in the stack that the card shows; 0: no stack
  std::vector<int> hues;  ///< for a stack: the hues of its members, in order
  bool spread = false;    ///< the user opened this list node: all its inputs are drawn, even without room
  document::Rect rect;
  std::vector<double> inputs;  ///< heights of the inputs, from the top
  std::vector<bool> taken;     ///< whether each input has a child
  /// By input: "3", "4–20" for a stack, or "+". Empty: the label of the stack includes the input.
  QStringList labels;
  bool isFrozen() const { return !frozen.isEmpty(); }
  bool operator==(const NodeLook&) const = default;
};

/// Returns the looks of all nodes in the layout. `stacks` must be the stacks of the layout.
std::map<document::NodeId, NodeLook> nodeLooks(const document::Document& document,
                                               const std::map<document::NodeId, document::Rect>& layout,
                                               const SegmentIdentities& identities,
                                               const Stacks& stacks = {});

/// Returns the title of a stack: "18 documents", "6 answers", "4 nodes".
QString stackTitle(const document::Document& document, const Stack& stack);

/// Updates a look after `node` replaced its node. Both nodes must have the same layout, the same kind of
/// operator and the same muted state. The other fields of the look depend only on these and on other nodes.
/// `checkpoint` is answererOf().
void setOwnLook(NodeLook& look, const document::DocumentNode& node, const std::string& checkpoint);

/// Returns the name of the server of the node or of the document, which answers the node. Without a server,
/// returns `checkpoint`.
std::string answererOf(const document::Document& document, const document::DocumentNode& node,
                       const std::string& checkpoint);

/// Returns the problem of a node in a few words ("needs an input"). Empty: there is none.
QString nodeProblem(const document::Document& document, document::NodeId id);

/// Returns the title and the name of a node: "user · document 1".
QString nodeTitle(const document::DocumentNode& node);
/// Returns the text of a node for a search: title, name and all texts of the node.
QString nodeSearchText(const document::DocumentNode& node);
/// Returns the model line of a node: "spanlet · temp 0 · max 60". If the node names another model than the
/// model that answers the node: "gpt-4 → spanlet · …". `checkpoint` is answererOf(), or empty if that is not
/// known. Nodes that do not generate have an empty line.
QString modelLine(const query::Node& own, const std::string& checkpoint = {});

/// Below this zoom, texts keep their size on the screen. In the scene these texts grow, and the card shows
/// fewer texts.
inline constexpr double kReadableZoom = 0.85;
/// Returns the size of texts in the scene, relative to zoom 1. The scale changes in steps, so that a zoom
/// rarely needs a new layout of texts.
double textScale(double zoom);

/// At a larger scale there is no room for chips that extend beyond a card. The numbers of inputs grow with
/// the scale.
inline constexpr double kNumberScale = 1.2;
/// At a larger scale, the gap below a card has no room for the chips of prediction and attention.
inline constexpr double kMostChipScale = 2.0;
inline constexpr double kMostNumberScale = 2.1;  ///< larger numbers would cover the title of a pill
inline constexpr double kCardLeft = 16;          ///< left edge of texts
inline constexpr double kCardRight = 12;         ///< free space at the right
inline constexpr double kCardLine = 16;          ///< from line to line
inline constexpr double kPillTop = 20;           ///< height of a pill's icon
inline constexpr double kPillTitle = 17;         ///< height of a pill's title
inline constexpr double kStackSheets = 8;        ///< how far the sheets under a stack extend beyond its card
inline constexpr double kLookedSides = 7;        ///< room left and right of the text of a document share
inline constexpr double kShareWidth = 44;
inline constexpr double kShareFoot = 16;  ///< min space from the top of the share's line to the card's edge
inline constexpr double kShareRise = 3;   ///< from the top of the share's line to its digits

/// The places of the parts of a card, from top to bottom. The origin is the card's top left corner. The unit
/// is a scene pixel divided by the scale of the texts.
struct NodeCardPlan {
  NodeCardPlan(const NodeLook& look, double scale);
  double width, height, titleTop, bodyTop, titleLeft, shareTop, chipTop;
  QRectF bar, answer;
  bool hasBar, hasIcon, hasModel = false, hasState = false;
  int bodyLines;
};

/// Returns the area of "2 of 4" in the card of a generate node, in scene pixels. A click there shows the next
/// answer.
QRectF pickerArea(const NodeLook& look, double scale = 1);
/// Returns the area of the bar that moves while a generate node runs.
QRectF barArea(const NodeLook& look, double scale = 1);
/// Returns the area of a spread list node where a click stacks its inputs again.
QRectF restackArea(const NodeLook& look);

}  // namespace spanscope::ui

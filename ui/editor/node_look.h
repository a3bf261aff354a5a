// SPDX-License-Identifier: GPL-3.0-or-later
// What a node of the document looks like, apart from what the trace says of it. These are plain values that
// can be compared, so that only changed nodes are drawn again.
// Plans where the parts of a card lie and how large its texts are.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"
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
  QString identity;    ///< "document 3", as other views call it; empty if there is only one document
  QString text;        ///< text of a leaf; for other cards what the operator works on or does
  QString modelLine;   ///< for generates: "spanlet · temp 0 · max 60"
  QString promise;     ///< for pills: what the operator promises
  QString problem;     ///< "needs an input"; empty: none
  QStringList frozen;  ///< the frozen answers, shortened; none: the node is run
  bool pill = false;
  bool answers = false;  ///< a generate, repeat or map
  bool muted = false;    ///< the node or a node above it is muted
  bool draft = false;    ///< the node is not in the query
  bool hasParent = false;
  bool collapsed = false;
  int hidden = 0;         ///< number of nodes hidden below this collapsed node
  int hue = -1;           ///< segment hue of the stripe, −1: none
  int stacked = 0;        ///< number of nodes in the stack that the card shows; 0: the card shows one node
  std::vector<int> hues;  ///< for a stack: the hues of its members, in order
  bool spread = false;    ///< a person has all inputs of this list node drawn, even if there is no room
  document::Rect rect;
  std::vector<double> inputs;  ///< heights of the inputs, from the top
  std::vector<bool> taken;     ///< whether each input has a child
  /// Of inputs: "3", "4–20" for a stack, "+"; empty: the label of its stack stands for it.
  QStringList labels;
  bool isFrozen() const { return !frozen.isEmpty(); }
  bool operator==(const NodeLook&) const = default;
};

/// The looks of all nodes in the layout. `stacks` must be the ones from which the layout was made.
std::map<document::NodeId, NodeLook> nodeLooks(const document::Document& document,
                                               const std::map<document::NodeId, document::Rect>& layout,
                                               const SegmentIdentities& identities,
                                               const Stacks& stacks = {});

/// "18 documents", "6 answers", "4 parts".
QString stackTitle(const document::Document& document, const Stack& stack);

/// Updates a look after its node was replaced by `node`. The two must be laid out alike, have the same kind
/// of operator and both be muted or not: the other fields of the look depend only on that and on other nodes.
/// `checkpoint` is answererOf().
void setOwnLook(NodeLook& look, const document::DocumentNode& node, const std::string& checkpoint);

/// Who answers the node: the server of the node or of the document by its name, else `checkpoint`.
std::string answererOf(const document::Document& document, const document::DocumentNode& node,
                       const std::string& checkpoint);

/// What is wrong with a node in a few words ("needs an input"); empty: nothing.
QString nodeProblem(const document::Document& document, document::NodeId id);

/// Title and name for a person: "user · document 1".
QString nodeTitle(const document::DocumentNode& node);
/// The text a person would look for in the node: title, name and all texts.
QString nodeSearchText(const document::DocumentNode& node);
/// "spanlet · temp 0 · max 60", or "gpt-4 → spanlet · …" if the node names another model than the one that
/// answers it. `checkpoint` is answererOf(), and empty if that is not known. Returns an empty text for nodes
/// that do not generate.
QString modelLine(const query::Node& own, const std::string& checkpoint = {});

/// Below this zoom, texts keep their size on the screen. So they grow in the scene, and the card shows fewer
/// of them.
inline constexpr double kReadableZoom = 0.85;
/// How much larger texts are in the scene than at zoom 1. The scale changes in steps, so that zooming seldom
/// lays out texts again.
double textScale(double zoom);

/// At a larger scale there is no room for chips that stand out of a card, and numbers of inputs grow with it.
inline constexpr double kNumberScale = 1.2;
inline constexpr double kMostNumberScale = 2.1;  ///< larger numbers would cover the title of a pill
inline constexpr double kCardLeft = 16;          ///< left edge of texts
inline constexpr double kCardRight = 12;         ///< free space at the right
inline constexpr double kCardLine = 16;          ///< from line to line
inline constexpr double kPillTop = 20;           ///< height of a pill's icon
inline constexpr double kPillTitle = 17;         ///< height of a pill's title
inline constexpr double kStackSheets = 8;        ///< how far the sheets behind a stack stand out
inline constexpr double kShareWidth = 44;
inline constexpr double kShareFoot = 16;  ///< from the top of the share's line to the edge of the card, least
inline constexpr double kShareRise = 3;   ///< from the top of the share's line to its digits

/// The parts of a card from top to bottom, measured from its top left corner in scene pixels divided by the
/// scale of its texts.
struct NodeCardPlan {
  NodeCardPlan(const NodeLook& look, double scale);
  double width, height, titleTop, bodyTop, titleLeft, shareTop;
  QRectF bar, answer;
  bool hasBar, hasIcon, hasModel = false, hasState = false;
  int bodyLines;
};

/// Where "2 of 4" stands in a generate's card; a click there shows the next answer. In scene pixels.
QRectF pickerArea(const NodeLook& look, double scale = 1);
/// Where the bar moves while a generate runs.
QRectF barArea(const NodeLook& look, double scale = 1);
/// Where a spread list node offers to stack its inputs again.
QRectF restackArea(const NodeLook& look);

}  // namespace spanscope::ui

// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that must not pass as the golden picture: errors of painting, and wrong content.
#pragma once

#include "tests/ui/pictures/picture_table.h"

#include <QColor>
#include <QImage>
#include <QPoint>
#include <QRect>

namespace spanscope::test {

/// Swaps two colours in all pixels.
QImage exchanged(QImage image, const QColor& one, const QColor& other);
/// Paints the most distinct thing in the part in another colour, smooth edges included.
QImage withAnotherInk(QImage image, const QRect& part, const QColor& ink);
/// Moves the part elsewhere, over what was there.
QImage moved(const QImage& image, const QRect& part, QPoint by);
/// The part of this size in which pixels change most from one to the next.
QRect busiestPart(const QImage& image, QSize size);
/// Fills the part with its most frequent colour.
QImage without(QImage image, const QRect& part);
/// Changes the picture as if every channel had been rounded the other way, alternately up and down.
QImage roundedOtherwise(QImage image);

/// The same answer over other documents: the first needed document of twentyDocuments() and its neighbour
/// swap their attention.
ui::ViewInput withOtherShares(const ui::ViewInput& input);
ui::ViewInput withoutTheSelection(const ui::ViewInput& input);
ui::ViewInput withoutTheLastDocument(const ui::ViewInput& input);
/// An input in which the first token of every step took twice as long.
ui::ViewInput withOtherLatency(const ui::ViewInput& input);
/// An input in which the swapped order took as long as computing everything.
ui::ViewInput withSlowSwaps(const ui::ViewInput& input);
/// An input in which the times of the same order and of the swapped order are swapped.
ui::ViewInput withExchangedCases(const ui::ViewInput& input);
/// An input in which nothing has run.
ui::ViewInput withoutEvents(const ui::ViewInput& input);
/// An input without the last run.
ui::ViewInput withoutTheLastRun(const ui::ViewInput& input);

}  // namespace spanscope::test

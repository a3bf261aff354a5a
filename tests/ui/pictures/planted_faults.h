// SPDX-License-Identifier: GPL-3.0-or-later
// What must not pass as the golden picture: faults of painting, and other things that are shown.
#pragma once

#include "tests/ui/pictures/picture_table.h"

#include <QColor>
#include <QImage>
#include <QPoint>
#include <QRect>

namespace spanscope::test {

/// Every pixel of one colour has the other one, and the other way round.
QImage exchanged(QImage image, const QColor& one, const QColor& other);
/// What stands out most in the part is painted in another colour, its smooth edges too.
QImage withAnotherInk(QImage image, const QRect& part, const QColor& ink);
/// The part stands elsewhere, over what was there.
QImage moved(const QImage& image, const QRect& part, QPoint by);
/// The part of this size in which the most changes from pixel to pixel.
QRect busiestPart(const QImage& image, QSize size);
/// The part has the colour that most of its pixels have.
QImage without(QImage image, const QRect& part);
/// As if every channel had been rounded the other way, by turns.
QImage roundedOtherwise(QImage image);

/// The same answer over other documents: what the first needed one of twentyDocuments() had, its neighbour
/// has.
ui::ViewInput withOtherShares(const ui::ViewInput& input);
ui::ViewInput withoutTheSelection(const ui::ViewInput& input);
ui::ViewInput withoutTheLastDocument(const ui::ViewInput& input);
/// The first token of every step took twice as long.
ui::ViewInput withOtherLatency(const ui::ViewInput& input);
/// The swapped order took as long as computing all.
ui::ViewInput withSlowSwaps(const ui::ViewInput& input);
/// What the same order took stands beside the swapped one.
ui::ViewInput withExchangedCases(const ui::ViewInput& input);
/// Nothing has run.
ui::ViewInput withoutEvents(const ui::ViewInput& input);
/// The last run is not there yet.
ui::ViewInput withoutTheLastRun(const ui::ViewInput& input);

}  // namespace spanscope::test

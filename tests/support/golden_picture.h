// SPDX-License-Identifier: GPL-3.0-or-later
// Compares pictures with golden pictures that are kept beside a test. A developer has looked at each golden
// picture and accepted it.
#pragma once

#include <QImage>
#include <QString>

namespace spanscope::test {

/// What is wrong with `found`, compared with the image in the file `golden`; empty: nothing.
///
/// If SPANSCOPE_WRITE_GOLDEN is set, `found` is written to the file instead: look at it before you commit it.
/// If the pictures differ and SPANSCOPE_PICTURE_DIFFERENCES names a folder, NAME-found.png and
/// NAME-difference.png are written there.
QString goldenProblem(const QImage& found, const QString& golden);

}  // namespace spanscope::test

// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures that are kept beside a test, as a person has looked at and accepted them.
#pragma once

#include <QImage>
#include <QString>

namespace spanscope::test {

/// What is wrong with `found`, held to the image in the file `golden`; empty: nothing.
///
/// With SPANSCOPE_WRITE_GOLDEN set, the file becomes `found` instead: look at it before it is committed.
/// Where the two differ and SPANSCOPE_PICTURE_DIFFERENCES names a folder, NAME-found.png and
/// NAME-difference.png are written there.
QString goldenProblem(const QImage& found, const QString& golden);

}  // namespace spanscope::test

// SPDX-License-Identifier: GPL-3.0-or-later
// How large the smallest type of a picture is.
#pragma once

#include "ui/export/view_export.h"

#include <QSize>

#include <optional>

namespace spanscope::ui {

/// The size of the smallest type that the function paints into a picture of this size, in pixels of the
/// picture at scale 1. Nothing: it paints no text.
std::optional<double> smallestType(const PaintFunction& paint, const QSize& size);

/// The size at which the function paints no type smaller than `least` pixels: `size`, or larger to the right
/// and below as far as that helps. It stays within what a picture may have; then its type may be smaller.
QSize legibleSize(const PaintFunction& paint, const QSize& size, double least);

}  // namespace spanscope::ui

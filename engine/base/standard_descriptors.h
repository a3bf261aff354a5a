// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope {

/// For the start of a program, before it opens anything: takes up those of the descriptors 0 to 2 that were
/// given to it closed, so that no file is opened in their place and what is meant for a person ends up in it.
/// Reading from such a descriptor finds the end, writing to it fails with EBADF, as it would have.
void holdStandardDescriptors();

/// Has writing to a pipe that nobody reads any more, or beyond the largest size of a file, fail with an error
/// instead of ending the program.
void reportWriteErrors();

}  // namespace spanscope

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope {

/// Call this at the start of a program, before it opens anything. It opens each of the descriptors 0 to 2
/// that the program was given closed. Otherwise a file could get such a number, and text meant for a person
/// would end up in that file. Reading from such a descriptor finds the end; writing to it fails with EBADF,
/// as with a closed one.
void holdStandardDescriptors();

/// Makes a write fail with an error, instead of ending the program, if nobody reads the pipe any more or the
/// file would exceed the largest allowed size.
void reportWriteErrors();

}  // namespace spanscope

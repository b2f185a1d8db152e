#pragma once
// The tables that op sets are made of. Witness extents are small and differ where they can, so that
// what is equal is equal for a reason.
#include "gen/grammar/op_sets.h"

namespace regraft::gen {

Theme matrix_theme();                ///< plain matrices
Theme convolution_theme();           ///< images of one size under windows that keep it
Theme taso_theme();                  ///< the inputs and operators of the TASO generator
std::vector<Theme> matrix_themes();  ///< matrices, sequences, layouts, numbers
std::vector<Theme> image_themes();   ///< convolutions and what stands beside them
std::vector<Theme> move_themes();    ///< reshapes, transposes, slices of what acts on elements
std::vector<Theme> rarer_themes();   ///< functions, reductions, shuffles of more calls

}  // namespace regraft::gen

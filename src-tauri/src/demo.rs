//! The bundled demo.
